/**
 * Tells whether the processes that use the inbox still run, and records which of them show it to a person, such as the
 * app. Without such a process, a request whose client cannot ask its user does not wait for an answer.
 */

import { randomBytes } from "node:crypto";
import { watch } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@fairlead/core/clock";
import { ensurePrivateFolder, isProcessRunning, privateFileMode, startTimeOf, unless } from "@fairlead/core/files";
import { isObject } from "@fairlead/wire/json";

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
  const stopPolling = repeat(clock, pollTime, listener);
  const watcher = tryWatch(folder, listener);
  return () => {
    stopPolling();
    watcher?.close();
  };
}

/** Runs the action again and again, and does not keep the process alive. Returns the function that stops this. */
export function repeat(clock: Pick<Clock, "after">, milliseconds: number, action: () => void): () => void {
  let isEnded = false;
  let callOff = (): void => {};
  const next = (): void => {
    // The action may have ended the repetition.
    if (!isEnded) callOff = clock.after(milliseconds, run, { background: true });
  };
  const run = (): void => {
    action();
    next();
  };
  next();
  return () => {
    isEnded = true;
    callOff();
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

/** Identifies a process, so that other processes can tell whether it still runs. */
export interface InboxProcess {
  readonly pid: number;
  /** When the process started, in clock ticks. Empty on systems without `/proc`. */
  readonly start: string;
}

export function thisProcess(): InboxProcess {
  const { pid } = process;
  return { pid, start: startTimeOf(pid) };
}

/** Whether the process still runs. A later process with the same id has another start time. */
export function stillRuns({ pid, start }: InboxProcess): boolean {
  return isProcessRunning(pid) && startTimeOf(pid) === start;
}

const highestPid = 0x7fffffff;
const startTime = /^\d{0,20}$/;

/** Reads the identity of a process from a file's JSON. Returns undefined if it is missing or invalid. */
export function parseProcess(value: unknown): InboxProcess | undefined {
  if (!isObject(value)) return undefined;
  const { pid, start } = value;
  // A process id of 0 or below means a process group.
  if (typeof pid !== "number" || !Number.isInteger(pid) || pid <= 0 || pid > highestPid) return undefined;
  return typeof start === "string" && startTime.test(start) ? { pid, start } : undefined;
}
