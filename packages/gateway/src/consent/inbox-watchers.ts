/**
 * Records which processes show the inbox to a person, such as the app. Without such a process, a request whose client
 * cannot ask its user does not wait for an answer.
 */

import { randomBytes } from "node:crypto";
import { watch } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@fairlead/core/clock";
import { ensurePrivateFolder, privateFileMode } from "@fairlead/core/files/atomic/private-folder";
import { unless } from "@fairlead/core/files/system-error";
import { stillRuns, thisProcess } from "./inbox-process.ts";

/** Milliseconds between two checks. Some file systems do not report changes, so watching is not enough. */
const pollTime = 1000;
const name = /^(\d{1,10})-[0-9a-f]{8}$/;

/** Registers this process as one that shows the inbox. Returns the function that ends this. */
export async function registerWatcher(folder: string): Promise<() => Promise<void>> {
  const watchers = join(folder, "watchers");
  await ensurePrivateFolder(watchers);
  const { pid, start } = thisProcess();
  const file = join(watchers, `${pid}-${randomBytes(4).toString("hex")}`);
  await writeFile(file, start, { mode: privateFileMode });
  return () => rm(file, { force: true });
}

/** Whether a registered process still runs. Removes the files of processes that have ended. */
export async function hasWatcher(folder: string): Promise<boolean> {
  const watchers = join(folder, "watchers");
  let isFound = false;
  for (const file of (await readdir(watchers).catch(unless("ENOENT"))) ?? []) {
    const [, pid] = name.exec(file) ?? [];
    if (pid === undefined) continue;
    const start = await readFile(join(watchers, file), "utf8").catch(unless("ENOENT"));
    if (start !== undefined && stillRuns({ pid: Number(pid), start })) isFound = true;
    else await rm(join(watchers, file), { force: true });
  }
  return isFound;
}

/** Calls `listener` when files may have changed, and every second. Returns the function that stops this. */
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
    // Without events, the regular checks of `onFolderChange` are enough.
    return watch(folder, { persistent: false }, () => listener()).on("error", () => {});
  } catch {
    return undefined;
  }
}
