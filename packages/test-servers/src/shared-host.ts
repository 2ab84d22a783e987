/**
 * Servers that share one Node process for a whole test run. For each server, the host under test starts a relay: a real
 * process that starts in a hundredth of the time.
 */

import { accessSync, constants } from "node:fs";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** The command that starts a server, as an entry of a settings file. */
export interface StdioEntry {
  readonly command: string;
  readonly args: readonly string[];
}

/** The variable with the port of the shared process, set by `shared-host.setup.ts`. */
const portVariable = "FAIRLEAD_TEST_SERVERS_PORT";
const shared: ReadonlySet<string> = new Set([
  ..."well-behaved counted catalog contender views library skills conformance tasks".split(" "),
  ..."asks echo-catalog large-result odd-parameters results silent workshop".split(" "),
]);

/** The relay script. It is a file, because a `$` in the settings would be a variable. */
const relay = fileURLToPath(new URL("../src/programs/relay.sh", import.meta.url));

/**
 * Returns the entry for a shared server; undefined if the program needs its own process, or if no shared process runs.
 */
export function sharedServer(program: string, args: readonly string[]): StdioEntry | undefined {
  const port = process.env[portVariable];
  if (port === undefined || !shared.has(program)) return undefined;
  return { command: "/bin/bash", args: [relay, port, JSON.stringify({ program, args })] };
}

/** Returns the line with which the shared process answers; undefined if no shared process runs. */
export async function askSharedHost(program: string, args: readonly string[]): Promise<string | undefined> {
  const port = process.env[portVariable];
  if (port === undefined) return undefined;
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(`${JSON.stringify({ program, args })}\n`);
  const answer = (await text(socket)).trimEnd();
  if (answer === "") throw new Error(`the shared process cannot start ${program}`);
  return answer;
}

/** Whether this machine has the programs that the relay uses. */
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
