// CPU time of processes that have ended.
import { readFileSync } from "node:fs";

/** Linux counts in hundredths of a second here, whatever the kernel's own clock is. */
const ticksPerSecond = 100;

/** Seconds of CPU, user and system, of every child that this process has waited for, and of theirs; undefined where the system does not tell. */
export function cpuOfChildren() {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // The name in the second field may contain anything: the others begin after its last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
    return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
  } catch {
    return undefined;
  }
}
