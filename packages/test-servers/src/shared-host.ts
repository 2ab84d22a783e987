/** Servers that share one Node process for a whole run of tests. What the host under test starts is a relay: a real process, in a hundredth of the time. */

import { accessSync, constants } from "node:fs";
import type { StdioEntry, StdioProgram } from "./stdio-server.ts";

/** Set by `shared-host.setup.ts`: where the shared process listens. */
const portVariable = "FAIRLEAD_TEST_SERVERS_PORT";
const shared: readonly StdioProgram[] = ["well-behaved", "counted", "catalog", "library"];

/** Ends when its input ends, and when the server does. Only what a shell has itself, and `cat`. */
const relay = [
  'exec 4<&0 3<>"/dev/tcp/127.0.0.1/$1" || exit 1',
  "printf '%s\\n' \"$2\" >&3",
  // A shell gives what runs in the background no input of its own.
  "/bin/cat <&3 &",
  "/bin/cat <&4 >&3 &",
  // One of the two has ended: the server, or what is said to it.
  "wait -n",
  "kill $(jobs -p) 2> /dev/null",
  "exit 0",
].join("\n");

/** Undefined where the program needs a process of its own, or there is no shared one. */
export function sharedServer(program: StdioProgram, args: readonly string[]): StdioEntry | undefined {
  const port = process.env[portVariable];
  if (port === undefined || !shared.includes(program)) return undefined;
  return { command: "/bin/bash", args: ["-c", relay, program, port, JSON.stringify({ program, args })] };
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
