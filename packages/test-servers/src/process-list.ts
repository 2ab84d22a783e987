/** Looks for processes the way an outsider would: in `/proc`, by a mark in their environment; zombies are dead. */

import { readdirSync, readFileSync } from "node:fs";

/** Everything that runs with `mark` somewhere in its environment, as "pid command line". */
export function processesWith(mark: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && contentOf(`/proc/${name}/environ`).includes(mark))
    .filter((name) => isRunning(Number(name)))
    .map((name) => `${name} ${contentOf(`/proc/${name}/cmdline`).replaceAll("\0", " ")}`);
}

export function isRunning(pid: number): boolean {
  const stat = contentOf(`/proc/${pid}/stat`);
  if (stat === "") return false;
  // The name in the second field may contain anything: the others begin after its last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
  const isZombie = fields[0] === "Z" || fields[0] === "X";
  // With threads that still run, it only looks like one.
  return !isZombie || Number(fields[17]) > 1;
}

/** The numbers of the children of a process whose command line contains `word`. */
export function childrenOf(parent: number, word: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && contentOf(`/proc/${name}/cmdline`).includes(word))
    .filter((name) => new RegExp(`\\) . ${parent} `).test(contentOf(`/proc/${name}/stat`)))
    .map(Number);
}

/** For what another process brings about, with no event to wait for. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** What is gone, or another user's, reads as nothing. */
function contentOf(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
