/**
 * A lock that keeps other processes from writing a file. Fairlead's processes take the record `FILE.lock-owner` first;
 * if its owner was killed, another process can take it at once. Then they take the folder `FILE.lock`, which Gemini CLI
 * uses for the same files.
 */

import fs from "node:fs";
import { rmdir, stat } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { HostError } from "../../errors.ts";
import { unless } from "../system-error.ts";
import { hasRecord, lockFolder, removeRecord, staleAfter, takeRecord } from "./lock-owner.ts";

/**
 * How many milliseconds to wait for a lock. Longer than `staleAfter`, so that an abandoned lock expires during the
 * wait.
 */
const timeout = 30_000;

/** A lock that this process holds. */
export interface HeldLock {
  /** Never rejects. */
  readonly release: () => Promise<void>;
  /** True if the lock expired while this process was suspended. Another process may hold the lock now. */
  readonly isLost: () => boolean;
}

/**
 * Runs `work` while this process holds the lock of `file`.
 *
 * @throws HostError `busy` after `timeout` milliseconds of waiting (default: 30 000)
 */
export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  options: { timeout?: number } = {},
): Promise<T> {
  const { release } = await acquire(file, Date.now() + (options.timeout ?? timeout));
  try {
    return await work();
  } finally {
    await release();
  }
}

async function acquire(file: string, deadline: number): Promise<HeldLock> {
  for (;;) {
    const held = await tryLock(file);
    if (held !== undefined) return held;
    if (Date.now() > deadline) throw busy(file);
    // A random pause, so that waiting processes do not all retry at the same moment.
    await wait(5 + Math.random() * 45);
  }
}

/** Takes the lock without waiting. Undefined if the lock is held. */
export async function tryLock(file: string): Promise<HeldLock | undefined> {
  const record = await takeRecord(file);
  if (record === undefined) return undefined;
  let folder: HeldLock | undefined;
  let isHeld = false;
  const release = async (): Promise<void> => {
    await folder?.release();
    await removeRecord(file, record);
  };
  try {
    folder = await takeFolder(file);
    // A process that was suspended before it took the folder may have lost the record.
    isHeld = folder !== undefined && (await hasRecord(file, record));
  } finally {
    if (!isHeld) await release();
  }
  return folder !== undefined && isHeld ? { isLost: folder.isLost, release } : undefined;
}

/**
 * The mode of the lock folders of Fairlead. Other programs make them with the mode 777 minus the umask. The folder stays
 * empty, so no program needs to write into it.
 */
const ownMode = 0o500;

/** The caller must hold the record. Returns undefined if another program holds the folder. */
async function takeFolder(file: string): Promise<HeldLock | undefined> {
  const path = lockFolder(file);
  const found = await stat(path).catch(unless("ENOENT", "ENOTDIR"));
  // Only the owner of the record makes folders with this mode, so its owner was killed.
  if (found !== undefined && (found.mode & 0o777) === ownMode) await rmdir(path).catch(unless("ENOENT"));
  const { default: lockfile } = await import("proper-lockfile");
  let isLost = false;
  try {
    // The library's own retries are not used, because they also repeat errors such as a missing permission.
    const release = await lockfile.lock(file, {
      realpath: false,
      stale: staleAfter,
      fs: { ...fs, mkdir: (folder: string, done: fs.NoParamCallback) => fs.mkdir(folder, ownMode, done) },
      onCompromised: () => {
        isLost = true;
      },
    });
    return {
      isLost: () => isLost,
      // If the folder cannot be removed, for example because the disk is read-only by now, the next process removes it.
      release: async () => void (isLost || (await release().catch(ignored))),
    };
  } catch (error) {
    return unless("ELOCKED")(error);
  }
}

function ignored(): void {}

function busy(file: string): HostError {
  return new HostError("busy", `another program is writing to ${file} and does not finish; nothing was changed`, {
    next: `Try again. If no other program uses the file, remove ${file}.lock and ${file}.lock-owner first.`,
  });
}
