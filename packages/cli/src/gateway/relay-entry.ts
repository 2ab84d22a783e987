/** The bundle's entry point for `fairlead serve`: starts the relay without loading the rest of the command. */

import { ownSurroundings } from "./installation.ts";
import { readRelayWords } from "./relay-words.ts";
import { aloneMessage, relayToHost } from "./run-relay.ts";

/**
 * @param words The words after `fairlead serve`.
 * @param runCommand Runs the whole command instead, with these words at its end.
 */
export async function runServe(words: readonly string[], runCommand: (more: readonly string[]) => void): Promise<void> {
  const client = readRelayWords(words, { cwd: currentFolder(), env: process.env });
  if (client === undefined) return runCommand([]);
  const problem = await relayToHost(client, process, ownSurroundings());
  // Exits at once: a host that is being started must not keep this process alive.
  if (problem === undefined) process.exit(0);
  process.stderr.write(aloneMessage(problem));
  runCommand(["--alone"]);
}

/** The current folder; empty if it was removed, which the host reports. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "";
  }
}
