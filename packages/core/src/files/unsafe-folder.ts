/** Finds a folder that lets another user replace what lies below it. */

import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { dirname, resolve } from "node:path";
import { toShellWord } from "../text/shell-word.ts";
import { systemCode } from "./system-error.ts";

/** A folder on the way to a path, and why it is not safe. */
export interface UnsafeFolder {
  readonly path: string;
  readonly problem: string;
  /** What the user can do. */
  readonly next: string;
}

const root = 0;
const writableByOthers = 0o022;
const enterableByOthers = 0o011;
const sticky = 0o1000;

/**
 * Looks at the path and at every folder and symbolic link on the way to it. Each must belong to the user or to root, and
 * no other user may write to it. A folder such as /tmp is safe, because its sticky bit protects what others made.
 * Folders that do not exist are safe. Returns undefined if all are, and on systems without user ids.
 */
export function findUnsafeFolder(path: string, user: number | undefined): UnsafeFolder | undefined {
  return user === undefined ? undefined : find(resolve(path), user, new Set());
}

function find(path: string, user: number, seen: Set<string>): UnsafeFolder | undefined {
  if (seen.has(path)) return undefined;
  seen.add(path);
  /** Whether a folder above keeps other users out. */
  let isClosed = false;
  for (const each of withParents(path)) {
    const stats = statsOf(each);
    if (stats === undefined) return undefined;
    if (stats.uid !== root && stats.uid !== user) return foreign(each, stats);
    if (stats.isSymbolicLink()) {
      const target = find(resolve(dirname(each), readlinkSync(each)), user, seen);
      if (target !== undefined) return target;
    } else if (!isClosed && (stats.mode & writableByOthers) !== 0 && (stats.mode & sticky) === 0) {
      return writable(each, stats);
    }
    isClosed = stats.isSymbolicLink() ? false : isClosed || (stats.mode & enterableByOthers) === 0;
  }
  return undefined;
}

function withParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...withParents(parent), path];
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    // What this user cannot reach, it cannot use either.
    if (["ENOENT", "ENOTDIR", "EACCES", "ELOOP"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

const elsewhere = "set FAIRLEAD_HOME to a folder that only you can change";

function foreign(path: string, { uid }: Stats): UnsafeFolder {
  return { path, problem: `it belongs to another user (id ${uid})`, next: elsewhere };
}

function writable(path: string, { mode }: Stats): UnsafeFolder {
  const problem = `other users can change it (mode ${(mode & 0o7777).toString(8)})`;
  return { path, problem, next: `run chmod go-w ${toShellWord(path)}, or ${elsewhere}` };
}
