/**
 * Records in `FILE.lock-owner` which process owns a lock. If that process is killed, another process can take the lock
 * at once. The record is outside the lock's folder, because Gemini CLI uses the same locks and can remove only empty
 * folders.
 */

import { readFileSync, readlinkSync } from "node:fs";
import { readFile, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { hostname, uptime } from "node:os";
import { isObject } from "@fairlead/wire/json";
import { systemCode, unless } from "../system-error.ts";
import { temporaryName } from "./replace-file.ts";

interface LockOwner {
  readonly pid: number;
  /** Start time of the process, in clock ticks; empty on systems without `/proc`. */
  readonly start: string;
  /**
   * Where `pid` is valid: on this machine (`host`), until its next restart (`boot`), in one process namespace
   * (`processes`). Each container has its own namespace.
   */
  readonly host: string;
  readonly boot: string;
  readonly processes: string;
  /** Identifies the lock's folder. The record of a killed process must not apply to a later lock of another program. */
  readonly lock: string;
}

/**
 * Records that this process owns the lock. Returns the record, or undefined if the file system has no creation times.
 */
export async function noteOwner(file: string): Promise<string | undefined> {
  const lock = await lockIdentity(file);
  if (lock === undefined) return undefined;
  const owner: LockOwner = { pid: process.pid, start: startOf(process.pid), ...here(), lock };
  const note = JSON.stringify(owner);
  await writeFile(noteOf(file), note, { mode: 0o600 }).catch(ignored);
  return note;
}

/** Removes this process's own record. Call it only after the lock is released: until then, the record must exist. */
export async function removeNote(file: string, note: string | undefined): Promise<void> {
  const text = await readFile(noteOf(file), "utf8").catch(ignored);
  if (text !== undefined && text === note) await rm(noteOf(file), { force: true }).catch(ignored);
}

/** Removes the lock if its owner has ended. Returns true if the lock was removed. */
export async function removeDeadLock(file: string): Promise<boolean> {
  const text = await readFile(noteOf(file), "utf8").catch(ignored);
  const owner = text === undefined ? undefined : parse(text);
  if (owner === undefined || !(await hasEnded(owner, file))) return false;
  // Several processes may try this. Only one of them can rename the record, and it removes the lock.
  const claimed = temporaryName(file);
  const isClaimed = await rename(noteOf(file), claimed).then(
    () => true,
    () => false,
  );
  if (!isClaimed) return false;
  if ((await readFile(claimed, "utf8").catch(ignored)) !== text) {
    // Another process has taken the lock meanwhile, so its record is put back.
    await rename(claimed, noteOf(file)).catch(ignored);
    return false;
  }
  const isSame = (await lockIdentity(file)) === owner.lock;
  if (isSame) await rmdir(lockFolder(file)).catch(unless("ENOENT"));
  await rm(claimed, { force: true });
  return isSame;
}

/**
 * The id of the process that holds the lock. Undefined if none does, if it left no record, or if it runs on another
 * machine or in another container.
 */
export async function lockHolder(file: string): Promise<number | undefined> {
  const text = await readFile(noteOf(file), "utf8").catch(ignored);
  const owner = text === undefined ? undefined : parse(text);
  if (owner === undefined || (await lockIdentity(file)) !== owner.lock) return undefined;
  const { host, boot, processes } = here();
  const isHere = owner.host === host && owner.boot === boot && owner.processes === processes;
  return isHere && isRunning(owner.pid) && startOf(owner.pid) === owner.start ? owner.pid : undefined;
}

async function hasEnded(owner: LockOwner, file: string): Promise<boolean> {
  const { host, boot, processes } = here();
  if (owner.host !== host || (await lockIdentity(file)) !== owner.lock) return false;
  /*
   * Either this machine restarted, or the record is from another machine with the same name. If the lock is older than
   * the last restart, the owner has certainly ended.
   */
  if (owner.boot !== boot) return owner.boot !== "" && boot !== "" && (await isFromBeforeBoot(file));
  if (owner.processes !== processes) return false;
  return !isRunning(owner.pid) || startOf(owner.pid) !== owner.start;
}

async function isFromBeforeBoot(file: string): Promise<boolean> {
  const stats = await stat(lockFolder(file)).catch(ignored);
  return stats !== undefined && stats.mtimeMs < Date.now() - uptime() * 1000;
}

/**
 * Identifies the lock's folder. Undefined if the file system has no creation times: an inode number alone may be
 * reused.
 */
async function lockIdentity(file: string): Promise<string | undefined> {
  const stats = await stat(lockFolder(file), { bigint: true }).catch(ignored);
  return stats === undefined || stats.birthtimeNs === 0n ? undefined : `${stats.ino} ${stats.birthtimeNs}`;
}

function lockFolder(file: string): string {
  return `${file}.lock`;
}

function noteOf(file: string): string {
  return `${file}.lock-owner`;
}

function here(): Pick<LockOwner, "host" | "boot" | "processes"> {
  return {
    host: hostname(),
    boot: quietly(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    processes: quietly(() => readlinkSync("/proc/self/ns/pid")),
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}

/** The start time of the process. A later process may get the same id, but not the same start time. */
function startOf(pid: number): string {
  const text = quietly(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  return text.slice(text.lastIndexOf(") ") + 2).split(" ")[19] ?? "";
}

function quietly(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

function ignored(): undefined {
  return undefined;
}

function parse(text: string): LockOwner | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return undefined;
    const { pid, ...texts } = value as Partial<Record<keyof LockOwner, unknown>>;
    const { start, host, boot, processes, lock } = texts as Partial<Record<keyof typeof texts, string>>;
    const isWhole = [start, host, boot, processes, lock].every((item) => typeof item === "string");
    // Process ids of 0 or below mean a process group.
    if (!isWhole || typeof pid !== "number" || !Number.isInteger(pid) || pid <= 0) return undefined;
    return {
      pid,
      start: start ?? "",
      host: host ?? "",
      boot: boot ?? "",
      processes: processes ?? "",
      lock: lock ?? "",
    };
  } catch {
    return undefined;
  }
}
