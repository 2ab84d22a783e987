/** Runs the relay of `fairlead serve` on stdio, connected to the background host of this installation. */

import type { Readable, Writable } from "node:stream";
import type { HostConnection } from "@fairlead/gateway/relay/connect-host";
import { findHost, type RelayHello } from "@fairlead/gateway/relay/find-host";
import { runRelay } from "@fairlead/gateway/relay/relay";
import { UnsafeRunFolder } from "@fairlead/gateway/relay/run-folder";
import type { RelayClient, RelayName } from "@fairlead/gateway/relay/speech";
import { errorMessage } from "@fairlead/wire/text";
import { type HostSurroundings, hostPlace } from "./installation.ts";
import { watchParent } from "./parent-process.ts";

/** The standard streams of the relay's process. */
export interface RelayStreams {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/**
 * Relays messages until the client has closed stdin and received all responses. Resolves with a message if no
 * background host can be reached. Nothing has been read from `stdin` then.
 */
export async function relayToHost(
  client: RelayClient,
  { stdin, stdout, stderr }: RelayStreams,
  surroundings: HostSurroundings,
): Promise<string | undefined> {
  async function reach(names: readonly RelayName[]): Promise<HostConnection> {
    const backgroundHost = hostPlace(surroundings);
    if (backgroundHost === undefined)
      throw new Error("Fairlead is not installed completely, or FAIRLEAD_HOME is not absolute");
    const greeting: RelayHello = { version: backgroundHost.version, wants: "serve", client: { ...client, names } };
    const found = await findHost(backgroundHost.folder, greeting);
    if (found !== undefined) return found;
    const { findOrStartHost } = await import("@fairlead/gateway/relay/start-host");
    return findOrStartHost(backgroundHost.folder, greeting, backgroundHost.command);
  }
  const onProblem = (message: string): void => void stderr.write(`fairlead: ${printable(message)}\n`);
  let first: HostConnection;
  try {
    first = await reach([]);
  } catch (error) {
    return error instanceof UnsafeRunFolder ? `${error.message} (${error.next})` : errorMessage(error);
  }
  if (stdin.isTTY)
    stderr.write("fairlead: waiting for an MCP client on stdin; to add Fairlead to a program: fairlead connect\n");
  const parent = watchParent(stdin);
  await runRelay({ input: stdin, output: stdout, first, reach, onProblem, signal: parent.signal });
  parent.stop();
  return undefined;
}

/** Returns the message that no background host can be used, so this process starts its own servers. */
export function aloneMessage(problem: string): string {
  return `fairlead: the background host cannot be used: ${printable(problem)}; this process starts its own servers\n`;
}

/** Removes control characters. Importing `SafeText` for this would take longer than loading the relay. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
}
