/** A real Secret Service on a session bus of its own: gnome-keyring, from the system's packages. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { temporaryFolder } from "@fairlead/test-servers";
import { hasSecretService } from "../../src/files/secrets/secret-service.ts";

/** What this machine lacks of it. */
export const missing: readonly string[] = ["dbus-daemon", "gnome-keyring-daemon"].filter(
  (program) => spawnSync(program, ["--version"]).status !== 0,
);

export interface RealSecretService extends AsyncDisposable {
  readonly address: string;
}

/** A bus that starts no services by itself: there is one keyring, and it is this one. */
const busSettings = (folder: string) => `<busconfig>
  <type>session</type>
  <listen>unix:path=${folder}/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`;

/** Locked: it answers, but there is no user to ask for its password. */
export async function realSecretService(state: "unlocked" | "locked"): Promise<RealSecretService> {
  const home = await temporaryFolder();
  const runtime = join(home.path, "runtime");
  await mkdir(runtime, { mode: 0o700 });
  const settings = join(home.path, "bus.conf");
  await writeFile(settings, busSettings(runtime));
  const env = { PATH: process.env["PATH"], HOME: home.path, XDG_RUNTIME_DIR: runtime };
  const bus = spawn("dbus-daemon", [`--config-file=${settings}`, "--nofork", "--print-address=1"], {
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [address] = (await once(createInterface({ input: bus.stdout }), "line")) as [string];
  const unlock = state === "unlocked" ? ["--unlock"] : [];
  const keyring = spawn("gnome-keyring-daemon", ["--foreground", "--components=secrets", ...unlock], {
    env: { ...env, DBUS_SESSION_BUS_ADDRESS: address },
    stdio: ["pipe", "ignore", "ignore"],
  });
  keyring.stdin.end("password");
  while (!(await hasSecretService(address))) if (keyring.exitCode !== null) throw new Error("gnome-keyring ended");
  return {
    address,
    async [Symbol.asyncDispose]() {
      await Promise.all([end(keyring), end(bus)]);
      await home[Symbol.asyncDispose]();
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}
