// Reads the CPU time of processes that have ended.
import { readFileSync } from "node:fs";

/** Linux counts here in hundredths of a second, independent of the kernel's own clock. */
const ticksPerSecond = 100;

/**
 * Returns the seconds of CPU, user and system, of all ended child processes and their children; undefined if the system
 * does not report them.
 */
export function cpuOfChildren() {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    /*
     * The process name in the second field may contain any text, so the other fields are read after its last
     * parenthesis.
     */
    const fields = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
    return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
  } catch {
    return undefined;
  }
}
