/** The bundle's entry for `fairlead serve`: the relay starts without the rest of the command. */

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
  // At once: a host that is being started must not keep this process.
  if (problem === undefined) process.exit(0);
  process.stderr.write(aloneMessage(problem));
  runCommand(["--alone"]);
}

/** Empty if the folder was removed; the host reports it. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "";
  }
}
