/** The bundle's entry point for `fairlead serve`: starts the relay without loading the rest of the command. */

import { ownSurroundings } from "./installation.ts";
import { aloneMessage, readRelayWords, relayToHost } from "./run-relay.ts";

/**
 * Starts the relay. Runs the full command instead if the relay cannot handle the words or reaches no background host.
 * @param words The words after `fairlead serve`.
 * @param runCommand Runs the full command `fairlead serve`, with the words in `more` at its end.
 */
export async function runServe(words: readonly string[], runCommand: (more: readonly string[]) => void): Promise<void> {
  const client = readRelayWords(words, { cwd: currentFolder(), env: process.env });
  if (client === undefined) return runCommand([]);
  const problem = await relayToHost(client, process, ownSurroundings());
  // `process.exit` is needed, because a background host that is still starting would keep this process alive.
  if (problem === undefined) process.exit(0);
  process.stderr.write(aloneMessage(problem));
  runCommand(["--alone"]);
}

/** Returns the current folder, or "" if it was removed. The background host then reports the missing folder. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "";
  }
}
