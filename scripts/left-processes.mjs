// Finds the processes that a test run has left behind. Programs that detach from their parent, such as the background host,
// are found by their environment: it names a folder of the run.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** How long a process may still need to end after the run, in milliseconds. */
const grace = 5_000;

/** Ends the processes that still run after a grace period. Returns each as "ID COMMAND". Elsewhere than on Linux: none. */
export async function endLeftProcesses(folder) {
  const deadline = performance.now() + grace;
  while (performance.now() < deadline && processesOf(folder).length > 0) await wait(100);
  const left = processesOf(folder);
  for (const { id } of left) {
    try {
      process.kill(id, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
  return left.map(({ id, command }) => `${id} ${command}`);
}

/** Returns the processes whose environment names the folder. */
export function processesOf(folder) {
  return processIds()
    .filter((id) => contentOf(`/proc/${id}/environ`).includes(folder))
    .map((id) => ({ id, command: contentOf(`/proc/${id}/cmdline`).replaceAll("\0", " ").trim() }));
}

function processIds() {
  try {
    const names = readdirSync("/proc");
    return names.map(Number).filter((id) => Number.isInteger(id) && id !== process.pid);
  } catch {
    return [];
  }
}

/** Reads a file. A file of a process that has ended, or of another user, reads as empty. */
function contentOf(file) {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
