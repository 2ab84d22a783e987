/** Servers that share one Node process for a whole run of tests. What the host under test starts is a relay: a real process, in a hundredth of the time. */

import { accessSync, constants } from "node:fs";
import { fileURLToPath } from "node:url";

/** How a server is started, as an entry of a settings file. */
export interface StdioEntry {
  readonly command: string;
  readonly args: readonly string[];
}

/** Set by `shared-host.setup.ts`: where the shared process listens. */
const portVariable = "FAIRLEAD_TEST_SERVERS_PORT";
const shared: readonly string[] = ["well-behaved", "counted", "catalog", "library", "conformance", "tasks"];

/** A file, because a `$` in the settings would be a variable. */
const relay = fileURLToPath(new URL("../src/programs/relay.sh", import.meta.url));

/** Undefined where the program needs a process of its own, or there is no shared one. */
export function sharedServer(program: string, args: readonly string[]): StdioEntry | undefined {
  const port = process.env[portVariable];
  if (port === undefined || !shared.includes(program)) return undefined;
  return { command: "/bin/bash", args: [relay, port, JSON.stringify({ program, args })] };
}

/** Whether this machine has what the relay is made of. */
export function canShare(): boolean {
  try {
    for (const file of ["/bin/bash", "/bin/cat"]) accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function announceSharedHost(port: string): void {
  process.env[portVariable] = port;
}
