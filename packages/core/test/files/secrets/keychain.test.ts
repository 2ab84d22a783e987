import { execFile } from "node:child_process";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { openKeychain } from "../../../src/files/secrets/keychain.ts";
import { buildProgram } from "../../support/build-program.ts";
import { sessionBus, yes } from "../../support/session-bus.ts";

/** In another process, whose own environment knows of no session bus: no keychain of this machine is touched. */
async function storeSecret(folder: TemporaryFolder): Promise<string> {
  const bus = join(folder.path, "bus");
  using _server = await sessionBus(bus, { hasOwner: yes });
  const program = await buildProgram("store-secret", folder.path);
  const { DBUS_SESSION_BUS_ADDRESS: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, join(folder.path, "state"), `unix:path=${bus}`],
    {
      env: { ...env, DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" },
    },
  );
  return stdout;
}

test.each(["linux", "freebsd", "aix"] as const)("without a session bus, %s has no keychain", async (platform) => {
  expect(await openKeychain({ directory: "/nowhere", env: {}, platform })).toBeUndefined();
});

test("without the optional package there is no keychain, and secrets go to the file", async () => {
  await using folder = await temporaryFolder();
  expect(await storeSecret(folder)).toBe("file: stored");
});

test("where a Secret Service fails, secrets go to the file: the kernel's keyring never takes its place", async () => {
  await using folder = await temporaryFolder();
  await symlink(join(import.meta.dirname, "../../../../node_modules"), join(folder.path, "node_modules"));
  expect(await storeSecret(folder)).toBe("file: stored");
});
