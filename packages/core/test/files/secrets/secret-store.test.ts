import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder, until } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { inParts } from "../../../src/files/secrets/keychain.ts";
import type { Keychain } from "../../../src/files/secrets/secret-port.ts";
import { openSecretStore } from "../../../src/files/secrets/secret-store.ts";
import { describeSecretStore } from "../../support/describe-secret-store.ts";
import { expectRefusal } from "../../support/expect-refusal.ts";
import { manualClock } from "../../support/manual-clock.ts";

function memoryKeychain(): Keychain {
  const secrets = new Map<string, string>();
  return {
    get: async (name) => secrets.get(name),
    set: async (name, value) => {
      secrets.set(name, value);
    },
    remove: async (name) => secrets.delete(name),
  };
}

const refuse = () => Promise.reject(new Error("the collection is locked"));
const lockedKeychain: Keychain = { get: refuse, set: refuse, remove: refuse };

/** Takes no more than Windows does, in units of two bytes. */
function smallKeychain(): Keychain {
  const memory = memoryKeychain();
  return {
    ...memory,
    set: async (name, value) => {
      if (value.length * 2 > 2560) throw new Error("the stub received bad data");
      await memory.set(name, value);
    },
  };
}

const linux = { env: {}, platform: "linux" } as const;

describeSecretStore("file", () => (directory) => openSecretStore({ directory, ...linux, keychain: false }));
describeSecretStore("keychain", () => {
  const keychain = memoryKeychain();
  return (directory) => openSecretStore({ directory, ...linux, keychain });
});
describeSecretStore("keychain", () => {
  const keychain = inParts(smallKeychain());
  return (directory) => openSecretStore({ directory, ...linux, keychain });
});

describe("which store it is", () => {
  test("the file, if the environment says so", async () => {
    await using folder = await temporaryFolder();
    const env = { FAIRLEAD_SECRET_STORE: "file" };
    const store = await openSecretStore({ directory: folder.path, env, platform: "linux", keychain: memoryKeychain() });
    expect(store.backend).toBe("file");
  });

  test("another word in the environment is a mistake to be told", async () => {
    await using folder = await temporaryFolder();
    const env = { FAIRLEAD_SECRET_STORE: "vault" };
    const store = openSecretStore({ directory: folder.path, env, platform: "linux", keychain: memoryKeychain() });
    await expectRefusal(store, { code: "usage", message: /FAIRLEAD_SECRET_STORE is "vault"/ });
  });

  test("the file, on a Linux without a session bus, whatever the kernel offers", async () => {
    await using folder = await temporaryFolder();
    expect((await openSecretStore({ directory: folder.path, ...linux })).backend).toBe("file");
  });

  test("opening it leaves nothing behind", async () => {
    await using folder = await temporaryFolder();
    const directory = join(folder.path, "state");
    await openSecretStore({ directory, ...linux, keychain: memoryKeychain() });
    const store = await openSecretStore({ directory, ...linux, keychain: false });
    expect([await store.get("a"), await store.list()]).toEqual([undefined, []]);
    expect(await readdir(folder.path)).toEqual([]);
  });

  test("a file in use goes on being used when a keychain appears", async () => {
    await using folder = await temporaryFolder();
    await (await openSecretStore({ directory: folder.path, ...linux, keychain: false })).set("a", "kept");
    const store = await openSecretStore({ directory: folder.path, ...linux, keychain: memoryKeychain() });
    expect([store.backend, await store.get("a")]).toEqual(["file", "kept"]);
  });

  test("a keychain that holds secrets and cannot be reached is an error, not an empty file", async () => {
    await using folder = await temporaryFolder();
    await (await openSecretStore({ directory: folder.path, ...linux, keychain: memoryKeychain() })).set("a", "kept");
    await expectRefusal(openSecretStore({ directory: folder.path, ...linux, keychain: false }), {
      code: "internal",
      message: "the keychain of this system, which holds a secret, cannot be reached now",
      next: "FAIRLEAD_SECRET_STORE=file",
    });
  });
});

test("a keychain that holds secrets and refuses is quoted, and the way round it is told", async () => {
  await using folder = await temporaryFolder();
  await (await openSecretStore({ directory: folder.path, ...linux, keychain: memoryKeychain() })).set("a", "kept");
  const store = await openSecretStore({ directory: folder.path, ...linux, keychain: lockedKeychain });
  const attempts = {
    read: () => store.get("a"),
    store: () => store.set("a", "v"),
    remove: () => store.remove("a"),
  };
  for (const [verb, attempt] of Object.entries(attempts)) {
    await expectRefusal(attempt(), {
      code: "internal",
      message: `the keychain of this system did not ${verb} the secret a: the collection is locked`,
      next: "FAIRLEAD_SECRET_STORE=file",
    });
  }
  expect(await store.list()).toEqual(["a"]);
});

describe("the first secret decides", () => {
  const silent = () => new Promise<never>(() => undefined);
  const keychains: readonly (readonly [what: string, keychain: Keychain])[] = [
    ["is locked", lockedKeychain],
    ["never answers", { get: async () => undefined, set: silent, remove: silent }],
    ["forgets at once", { get: async () => undefined, set: async () => undefined, remove: async () => false }],
  ];

  test.each(keychains)("a keychain that %s is left alone, and a file takes its place", async (what, keychain) => {
    await using folder = await temporaryFolder();
    const clock = manualClock();
    const store = await openSecretStore({ directory: folder.path, ...linux, keychain, clock });
    const stored = Promise.all([store.set("a", "1"), store.set("b", "2")]);
    if (what === "never answers") {
      await until(() => clock.pending() === 1);
      await clock.pass(1999);
      expect([store.backend, clock.pending()]).toEqual(["keychain", 1]);
      await clock.pass(1);
    }
    await stored;
    expect(clock.pending()).toBe(0);
    expect([store.backend, await store.get("a"), await store.list()]).toEqual(["file", "1", ["a", "b"]]);
    const next = await openSecretStore({ directory: folder.path, ...linux, keychain });
    expect([next.backend, await next.get("b"), await next.remove("b")]).toEqual(["file", "2", true]);
  });

  test("nothing is asked of a keychain before, and nothing is left in it but secrets", async () => {
    await using folder = await temporaryFolder();
    const asked: string[] = [];
    const memory = memoryKeychain();
    const keychain: Keychain = {
      get: (name) => memory.get(name),
      set: (name, value) => {
        asked.push(name);
        return memory.set(name, value);
      },
      remove: (name) => memory.remove(name),
    };
    const store = await openSecretStore({ directory: folder.path, ...linux, keychain });
    expect([await store.get("a"), await store.list(), asked]).toEqual([undefined, [], []]);
    await store.set("a", "1");
    await store.set("b", "2");
    expect([asked.slice(1), await memory.get(asked[0] ?? "")]).toEqual([["a", "b"], undefined]);
  });

  test("what another process decided meanwhile counts", async () => {
    await using folder = await temporaryFolder();
    const store = await openSecretStore({ directory: folder.path, ...linux, keychain: memoryKeychain() });
    await (await openSecretStore({ directory: folder.path, ...linux, keychain: false })).set("a", "1");
    expect(await store.get("a")).toBe("1");
    await store.set("b", "2");
    expect([store.backend, await store.list()]).toEqual(["file", ["a", "b"]]);
  });
});
