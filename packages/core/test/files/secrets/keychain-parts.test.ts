import { expect, test } from "vitest";
import { inParts } from "../../../src/files/secrets/keychain.ts";
import type { Keychain } from "../../../src/files/secrets/secret-port.ts";

function watchedKeychain(): { readonly entries: Map<string, string>; readonly keychain: Keychain } {
  const entries = new Map<string, string>();
  const keychain: Keychain = {
    get: async (name) => entries.get(name),
    set: async (name, value) => void entries.set(name, value),
    remove: async (name) => entries.delete(name),
  };
  return { entries, keychain };
}

test("no part is left behind, whether a secret is replaced or removed", async () => {
  const { entries, keychain } = watchedKeychain();
  const parts = inParts(keychain);
  const counts: number[] = [];
  for (const length of [5000, 6000, 1, 5000]) {
    await parts.set("a", "x".repeat(length));
    counts.push(entries.size);
  }
  expect(counts).toEqual([10, 11, 1, 10]);
  expect([await parts.remove("a"), await parts.remove("a"), entries.size]).toEqual([true, false, 0]);
});

test("a process that reads while another writes gets the old secret or the new one, whole", async () => {
  const { keychain } = watchedKeychain();
  const parts = inParts(keychain);
  const values = Array.from({ length: 50 }, (_, index) => `${index} `.repeat(1000));
  await parts.set("a", values[0] ?? "");
  const written = (async () => {
    for (const value of values) await parts.set("a", value);
  })();
  const read = new Set<string | undefined>();
  for (let time = 0; time < 200; time += 1) read.add(await parts.get("a"));
  await written;
  expect([...read].filter((value) => value === undefined || !values.includes(value))).toEqual([]);
  expect(read.size).toBeGreaterThan(1);
});

test("a writer that died half-way has changed nothing; one whose parts are gone is told of", async () => {
  const { entries, keychain } = watchedKeychain();
  const parts = inParts(keychain);
  const old = "o".repeat(2000);
  await parts.set("a", old);
  let left = 2;
  const dying = inParts({
    ...keychain,
    set: (name, value) => {
      left -= 1;
      return left < 0 ? Promise.reject(new Error("killed")) : keychain.set(name, value);
    },
  });
  await expect(dying.set("a", "n".repeat(2000))).rejects.toThrow("killed");
  expect(await parts.get("a")).toBe(old);
  for (const name of entries.keys()) if (name.endsWith(".1")) entries.delete(name);
  await expect(parts.get("a")).rejects.toThrow("a part of the secret is missing");
});

test("a process that is killed at any step leaves no part that the next set or remove does not clear", async () => {
  for (const finish of ["set", "remove"] as const)
    for (let step = 0; ; step += 1) {
      const { entries, keychain } = watchedKeychain();
      await inParts(keychain).set("a", "o".repeat(2000));
      let left = step;
      const dying = <T>(work: () => Promise<T>): Promise<T> => {
        left -= 1;
        return left < 0 ? Promise.reject(new Error("killed")) : work();
      };
      const mortal = inParts({
        get: (name) => dying(() => keychain.get(name)),
        set: (name, value) => dying(() => keychain.set(name, value)),
        remove: (name) => dying(() => keychain.remove(name)),
      });
      const steps = async (): Promise<void> => {
        await mortal.set("a", "n".repeat(2000));
        await mortal.remove("a");
      };
      const isKilled = await steps().then(
        () => false,
        () => true,
      );
      const value = await inParts(keychain).get("a");
      expect([undefined, "o".repeat(2000), "n".repeat(2000)]).toContain(value);
      if (finish === "set") await inParts(keychain).set("a", "short");
      else await inParts(keychain).remove("a");
      expect([...entries.keys()]).toEqual(finish === "set" ? ["a"] : []);
      if (!isKilled) break;
    }
});
