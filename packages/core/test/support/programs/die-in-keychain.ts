/**
 * Sets or removes the secret TOKEN, and is killed at the keychain's step: `die-in-keychain FOLDER BUS set|remove
 * before|after`. Without a bus, the keychain is a folder of files.
 */

import { join } from "node:path";
import { openKeychain } from "../../../src/files/secrets/keychain.ts";
import { openKeychainStore } from "../../../src/files/secrets/keychain-store.ts";
import { folderKeychain } from "../folder-keychain.ts";
import { manualClock } from "../manual-clock.ts";

const [directory = "", bus = "", action, when] = process.argv.slice(2);
// However long the keychain takes on a busy machine, it is waited for.
const where = { directory, env: { DBUS_SESSION_BUS_ADDRESS: bus }, platform: "linux", clock: manualClock() } as const;
const keychain = bus === "" ? folderKeychain(join(directory, "entries")) : await openKeychain(where);
if (keychain === undefined) throw new Error("there is no keychain");

async function dying<T>(step: () => Promise<T>): Promise<T> {
  if (when === "after") await step();
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => undefined);
}

const store = openKeychainStore(directory, {
  get: (name) => keychain.get(name),
  set: (name, value) => dying(() => keychain.set(name, value)),
  remove: (name) => dying(() => keychain.remove(name)),
});
if (action === "set") await store.set("TOKEN", "canary");
else await store.remove("TOKEN");
