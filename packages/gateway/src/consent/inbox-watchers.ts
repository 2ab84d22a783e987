/**
 * Records which processes show the inbox to a person. If the client cannot ask its user, its request waits only if such
 * a process runs.
 */

import { randomBytes } from "node:crypto";
import { watch } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@fairlead/core/clock";
import { ensurePrivateFolder, privateFileMode } from "@fairlead/core/files/atomic/private-folder";
import { systemCode, unless } from "@fairlead/core/files/system-error";

/**
 * Milliseconds between two reads of the inbox. It is read regularly, because some file systems do not report changes.
 */
const pollTime = 1000;
const name = /^(\d{1,10})-[0-9a-f]{8}$/;

/** Registers this process. Returns the function that removes the registration. */
export async function registerWatcher(folder: string): Promise<() => Promise<void>> {
  const watchers = join(folder, "watchers");
  await ensurePrivateFolder(watchers);
  const file = join(watchers, `${process.pid}-${randomBytes(4).toString("hex")}`);
  await writeFile(file, await startOf(process.pid), { mode: privateFileMode });
  return () => rm(file, { force: true });
}

/** Whether any registered process is still running. Removes the files of processes that have ended. */
export async function hasWatcher(folder: string): Promise<boolean> {
  const watchers = join(folder, "watchers");
  let isFound = false;
  for (const file of (await readdir(watchers).catch(unless("ENOENT"))) ?? []) {
    const [, pid] = name.exec(file) ?? [];
    if (pid === undefined) continue;
    const start = await readFile(join(watchers, file), "utf8").catch(unless("ENOENT"));
    if (start !== undefined && isRunning(Number(pid)) && (await startOf(Number(pid))) === start) isFound = true;
    else await rm(join(watchers, file), { force: true });
  }
  return isFound;
}

/** Calls a function when files in a folder may have changed. Returns the function that stops watching. */
export function onFolderChange(folder: string, clock: Pick<Clock, "after">, listener: () => void): () => void {
  let isEnded = false;
  let callOff = (): void => {};
  const poll = (): void => {
    callOff = clock.after(
      pollTime,
      () => {
        if (isEnded) return;
        listener();
        poll();
      },
      { background: true },
    );
  };
  poll();
  const watcher = tryWatch(folder, listener);
  return () => {
    isEnded = true;
    callOff();
    watcher?.close();
  };
}

function tryWatch(folder: string, listener: () => void) {
  try {
    // Errors are ignored, because `onFolderChange` also calls the listener at regular intervals.
    return watch(folder, { persistent: false }, () => listener()).on("error", () => {});
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}

/**
 * Returns the start time of a process. If it has changed, the process id belongs to another process. Returns an empty
 * string on systems without `/proc`.
 */
async function startOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  return text.slice(text.lastIndexOf(") ") + 2).split(" ")[19] ?? "";
}
