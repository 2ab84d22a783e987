/** What is left after a process was killed while it changed a secret in a keychain. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { Keychain } from "../../src/files/secrets/secret-port.ts";
import { openSecretStore } from "../../src/files/secrets/secret-store.ts";
import { buildProgram } from "./build-program.ts";
import { manualClock } from "./manual-clock.ts";

interface SharedKeychain {
  /** The address of the session bus; "" for the keychain in the folder. */
  readonly bus: string;
  readonly keychain: Keychain;
}

/** `open` gives the keychain that the killed process uses too, for the state folder. */
export function testKilledInKeychain(open: (directory: string) => Promise<SharedKeychain>): void {
  test.each([
    ["set", "before", undefined],
    ["set", "after", "canary"],
    ["remove", "before", "first"],
    ["remove", "after", undefined],
  ] as const)(
    "a process that is killed during %s, %s the keychain's step, leaves no secret that is not listed",
    async (action, when, left) => {
      await using folder = await temporaryFolder();
      const directory = folder.path;
      const { bus, keychain } = await open(directory);
      const openStore = () =>
        openSecretStore({ directory, env: {}, platform: "linux", keychain, clock: manualClock() });
      if (action === "remove") await (await openStore()).set("TOKEN", "first");

      await symlink(join(import.meta.dirname, "../../../../node_modules"), join(directory, "node_modules"));
      const program = await buildProgram("die-in-keychain", directory);
      const { DBUS_SESSION_BUS_ADDRESS: _, ...env } = process.env;
      const child = spawn(process.execPath, [program, directory, bus, action, when], {
        env: { ...env, ...(bus !== "" && { DBUS_SESSION_BUS_ADDRESS: bus }) },
        stdio: "inherit",
      });
      expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);

      const store = await openStore();
      expect(await keychain.get("TOKEN")).toBe(left);
      expect(await store.list()).toEqual(["TOKEN"]);
      expect(await store.get("TOKEN")).toBe(left);
      expect(await store.remove("TOKEN")).toBe(true);
      expect([await keychain.get("TOKEN"), await store.list()]).toEqual([undefined, []]);
    },
  );
}
