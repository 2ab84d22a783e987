/**
 * The record `FILE.lock-owner`: which process owns a lock. It appears in one step with its content, so there is no lock
 * without an owner, and a lock whose owner was killed can be taken at once.
 */

import { readFileSync, readlinkSync } from "node:fs";
import { readFile, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { isObject, parseJson } from "@fairlead/wire/json";
import { isProcessRunning, startTimeOf } from "../running-process.ts";
import { unless } from "../system-error.ts";
import { createFile, temporaryName } from "./replace-file.ts";

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
}

/** After this many milliseconds without a sign of life, the lock of an owner that cannot be checked is abandoned. */
export const staleAfter = 10_000;

/** Takes the lock's record for this process and returns its text. Undefined if another process has it. */
export async function takeRecord(file: string): Promise<string | undefined> {
  return take(file, recordOf(file));
}

/** Whether the record of this process is still there. */
export async function hasRecord(file: string, text: string): Promise<boolean> {
  return (await readRecord(recordOf(file))) === text;
}

/** Removes the record of this process, unless another process has taken the lock over. Never rejects. */
export async function removeRecord(file: string, text: string): Promise<void> {
  await removeOwn(recordOf(file), text);
}

/**
 * The id of the process that holds the lock. Undefined if none does, or if it runs on another machine or in another
 * container.
 */
export async function lockHolder(file: string): Promise<number | undefined> {
  const text = await readRecord(recordOf(file)).catch(ignored);
  const owner = text === undefined ? undefined : parse(text);
  if (owner === undefined || !isHere(owner) || !isProcessRunning(owner.pid)) return undefined;
  // Without start times, another process may have this id by now. A process that renews its lock certainly has it.
  const isOwner =
    owner.start === "" ? await hasLifeSign([recordOf(file), lockFolder(file)]) : startTimeOf(owner.pid) === owner.start;
  return isOwner ? owner.pid : undefined;
}

/** The folder that locks a file for programs that do not know the record, such as Gemini CLI. */
export function lockFolder(file: string): string {
  return `${file}.lock`;
}

function recordOf(file: string): string {
  return `${file}.lock-owner`;
}

async function take(file: string, path: string): Promise<string | undefined> {
  const text = JSON.stringify(ownRecord());
  for (;;) {
    const found = await readRecord(path);
    if (found === undefined) {
      if (await createFile(path, text, temporaryName(file))) return text;
    } else if (!(await isAbandoned(found, lifeSigns(file, path))) || !(await removeAbandoned(file, path, found)))
      return undefined;
  }
}

/**
 * Removes the record of a killed process. Returns false if another process is doing that. Several processes may find
 * the same record, and a slow one must not remove the record of the process that came next. So the right to remove a
 * record is itself a record. If its owner is killed too, it is removed in the same way.
 */
async function removeAbandoned(file: string, path: string, text: string): Promise<boolean> {
  const claim = `${path}-claim`;
  const own = await take(file, claim);
  if (own === undefined) return false;
  try {
    await remove(path, text);
    return true;
  } finally {
    await removeOwn(claim, own);
  }
}

/** Milliseconds until this process tries again to remove its record. */
const retryTime = 1000;

/**
 * Removes a record of this process. If that fails, for example because the disk is read-only or too many files are open
 * at this moment, it is tried again: others would wait for the lock as long as this process runs.
 */
async function removeOwn(path: string, text: string): Promise<void> {
  try {
    await remove(path, text);
  } catch {
    setTimeout(() => void removeOwn(path, text), retryTime).unref();
  }
}

async function remove(path: string, text: string): Promise<void> {
  if ((await readRecord(path)) === text) await rm(path, { force: true });
}

/** The owner of a lock renews its folder. Records of another kind have no folder. */
function lifeSigns(file: string, path: string): readonly string[] {
  return path === recordOf(file) ? [path, lockFolder(file)] : [path];
}

/** Whether the owner has ended, or cannot be checked and has given no sign of life. */
async function isAbandoned(text: string, paths: readonly string[]): Promise<boolean> {
  const owner = parse(text);
  if (owner === undefined || !isHere(owner)) return !(await hasLifeSign(paths));
  if (!isProcessRunning(owner.pid)) return true;
  return owner.start === "" ? !(await hasLifeSign(paths)) : startTimeOf(owner.pid) !== owner.start;
}

async function hasLifeSign(paths: readonly string[]): Promise<boolean> {
  const times = await Promise.all(paths.map(async (path) => (await stat(path).catch(ignored))?.mtimeMs ?? 0));
  return Math.max(...times) > Date.now() - staleAfter;
}

async function readRecord(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(unless("ENOENT"));
}

function ownRecord(): LockOwner & { readonly id: number } {
  // The id tells two records of one process apart.
  return { pid: process.pid, start: startTimeOf(process.pid), ...here(), id: Math.random() };
}

/** Whether the owner's process id is valid here and now. */
function isHere(owner: LockOwner): boolean {
  const { host, boot, processes } = here();
  return owner.host === host && owner.boot === boot && owner.processes === processes;
}

function here(): Pick<LockOwner, "host" | "boot" | "processes"> {
  return {
    host: hostname(),
    boot: quietly(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    processes: quietly(() => readlinkSync("/proc/self/ns/pid")),
  };
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
  const value = parseJson(text);
  if (!isObject(value)) return undefined;
  const { pid, start, host, boot, processes } = value;
  // Process ids of 0 or below mean a process group.
  if (typeof pid !== "number" || !Number.isInteger(pid) || pid <= 0) return undefined;
  return isText(start) && isText(host) && isText(boot) && isText(processes)
    ? { pid, start, host, boot, processes }
    : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
