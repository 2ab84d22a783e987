// Finds a folder in memory for the temporary files of a test run: tests create and flush thousands of small files.
import { accessSync, constants, readFileSync, statfsSync } from "node:fs";

const candidate = "/dev/shm";
/** Free bytes that the folder must have. The files of a run take less than a quarter of this. */
const room = 2 * 2 ** 30;

/**
 * Returns the folder; undefined if `TMPDIR` already names a folder, or if the system has no such folder that is large
 * enough and may hold programs.
 */
export function memoryFolder(environment = process.env) {
  if (environment.TMPDIR !== undefined) return undefined;
  try {
    accessSync(candidate, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(candidate);
    return bavail * bsize >= room && canRunPrograms() ? candidate : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the system runs programs from the folder. Each line of the table is: device, folder, type, options. */
function canRunPrograms() {
  const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
  const options = mounts.map((line) => line.split(" ")).findLast(([, folder]) => folder === candidate)?.[3];
  return options !== undefined && !options.split(",").includes("noexec");
}
