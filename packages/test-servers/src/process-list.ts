/** Finds processes in `/proc` by a mark in their environment. Zombies do not count as running. */

import { readdirSync, readFileSync } from "node:fs";

/** Returns all processes that have `marker` in their environment, as "pid command line". */
export function processesWith(marker: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && contentOf(`/proc/${name}/environ`).includes(marker))
    .filter((name) => isRunning(Number(name)))
    .map((name) => `${name} ${contentOf(`/proc/${name}/cmdline`).replaceAll("\0", " ")}`);
}

export function isRunning(pid: number): boolean {
  const stat = contentOf(`/proc/${pid}/stat`);
  if (stat === "") return false;
  // The process name in the second field may contain any text, so the other fields are read after its last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
  const isZombie = fields[0] === "Z" || fields[0] === "X";
  // A process whose other threads still run only looks like a zombie.
  return !isZombie || Number(fields[17]) > 1;
}

/** Returns the ids of the child processes whose command line contains `word`. */
export function childrenOf(parent: number, word: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && contentOf(`/proc/${name}/cmdline`).includes(word))
    .filter((name) => new RegExp(`\\) . ${parent} `).test(contentOf(`/proc/${name}/stat`)))
    .map(Number);
}

/** Waits for a condition that another process brings about, if there is no event to wait for. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Reads a file. A missing file, or a file of another user, reads as empty. */
function contentOf(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
