/** What every secret store must do, whatever it keeps the secrets in. */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { scaled, seed, temporaryFolder } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../../src/errors.ts";
import type { SecretStore } from "../../src/files/secrets/secret-store.ts";
import { anyCharacter } from "./any-character.ts";
import { expectRefusal } from "./expect-refusal.ts";

/** Opens a new store in the folder each time; what one of them stores, the next one finds. */
export type OpenStore = (directory: string) => Promise<SecretStore>;

/** `prepare` is called once a test, for what lies outside the folder. */
export function describeSecretStore(name: SecretStore["backend"], prepare: () => OpenStore): void {
  describe(`a secret store (${name})`, () => {
    test("gives back what was stored, also to the next process", async () => {
      await using folder = await temporaryFolder();
      const open = prepare();
      const store = await open(folder.path);
      expect(store.backend).toBe(name);
      expect(await store.get("TOKEN")).toBeUndefined();
      await store.set("TOKEN", "first");
      await store.set("TOKEN", "second");
      await store.set("other.name-1", "third");
      const next = await open(folder.path);
      expect([await next.get("TOKEN"), await next.get("other.name-1")]).toEqual(["second", "third"]);
    });

    test("lists names, sorted, once each", async () => {
      await using folder = await temporaryFolder();
      const store = await prepare()(folder.path);
      expect(await store.list()).toEqual([]);
      for (const secret of ["b", "a", "__proto__", "b", "C"]) await store.set(secret, "value");
      expect(await store.list()).toEqual(["C", "__proto__", "a", "b"]);
      expect(await store.get("__proto__")).toBe("value");
    });

    test("removes, and says whether there was something to remove", async () => {
      await using folder = await temporaryFolder();
      const store = await prepare()(folder.path);
      await store.set("a", "1");
      await store.set("b", "2");
      expect([await store.remove("a"), await store.remove("a"), await store.remove("never")]).toEqual([
        true,
        false,
        false,
      ]);
      expect([await store.get("a"), await store.get("b"), await store.list()]).toEqual([undefined, "2", ["b"]]);
    });

    test("stored at the same time, all are there", async () => {
      await using folder = await temporaryFolder();
      const open = prepare();
      const names = Array.from({ length: 10 }, (_, index) => `name${index}`);
      await Promise.all(names.map(async (secret) => (await open(folder.path)).set(secret, `value of ${secret}`)));
      const store = await open(folder.path);
      expect(await store.list()).toEqual(names);
      expect(await Promise.all(names.map((secret) => store.get(secret)))).toEqual(
        names.map((one) => `value of ${one}`),
      );
    });

    test("no file holds a value in clear", async () => {
      await using folder = await temporaryFolder();
      const store = await prepare()(folder.path);
      const canary = "canary-9f2b71";
      await store.set("TOKEN", canary);
      await store.set("OTHER", "x");
      for (const file of await readdir(folder.path)) {
        const content = await readFile(join(folder.path, file), "latin1");
        expect(content).not.toContain(canary);
        expect(content).not.toContain(Buffer.from(canary).toString("base64").slice(0, 16));
      }
    });

    test.each(["", "a b", "a/b", "../a", "é", "a\n", "x".repeat(129), "${a}"])("%j is no name", async (secret) => {
      await using folder = await temporaryFolder();
      const store = await prepare()(folder.path);
      for (const attempt of [store.get(secret), store.set(secret, "value"), store.remove(secret)]) {
        await expectRefusal(attempt, {
          code: "usage",
          message: "name of a secret",
        });
      }
      expect(await store.list()).toEqual([]);
    });

    test.each<[what: string, value: string, code: ErrorCode]>([
      ["empty", "", "usage"],
      ["too large", "x".repeat(64 * 1024 + 1), "too_large"],
      ["too large in bytes", "é".repeat(32 * 1024 + 1), "too_large"],
      ["half a character", "\uD800", "usage"],
    ])("a value that is %s is refused without being quoted", async (_, value, code) => {
      await using folder = await temporaryFolder();
      const store = await prepare()(folder.path);
      await expectRefusal(store.set("TOKEN", value), { code, message: /^.{0,100}$/ });
      expect(await store.list()).toEqual([]);
    });

    const randomSeed = seed();
    test(`any text comes back as it was, up to 64 kB (seed ${randomSeed})`, async () => {
      await using folder = await temporaryFolder();
      const store = await prepare()(folder.path);
      const value = fc.oneof(fc.constant("é".repeat(32 * 1024)), fc.string({ unit: anyCharacter, minLength: 1 }));
      await fc.assert(
        fc.asyncProperty(value, async (text) => {
          await store.set("TOKEN", text);
          expect(await store.get("TOKEN")).toBe(text);
        }),
        { numRuns: scaled(100), seed: randomSeed },
      );
    });
  });
}
