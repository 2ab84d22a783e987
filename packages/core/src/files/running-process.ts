/** Whether a process runs, and since when. */

import { readFileSync } from "node:fs";
import { systemCode } from "./system-error.ts";

/** Whether the process runs. A process that has ended does not, even if its parent has not noticed yet. */
export function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (systemCode(error) === "ESRCH") return false;
  }
  return !isZombie(statOf(pid));
}

/**
 * The start time of a running process, in clock ticks. Empty on systems without `/proc`. A later process may get the
 * same id, but not the same start time.
 */
export function startTimeOf(pid: number): string {
  const stat = statOf(pid);
  return isZombie(stat) ? "" : (stat[19] ?? "");
}

function isZombie([state = ""]: readonly string[]): boolean {
  return state === "Z" || state === "X";
}

/** The fields of `/proc/PID/stat` after the command, which may contain any character. */
function statOf(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(") ") + 2).split(" ");
  } catch {
    return [];
  }
}
