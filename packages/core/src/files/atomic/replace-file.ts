/**
 * Replaces the content of a file in one step: after a crash or a power cut, the file has either the whole old text or
 * the whole new text. Does not use `write-file-atomic`, which can write an incomplete file if the disk is full.
 */

import type { Stats } from "node:fs";
import { link, lstat, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isProcessRunning } from "../running-process.ts";
import { systemCode, unless } from "../system-error.ts";

/**
 * A temporary file older than this (in milliseconds) is always removed. A newer one stays while its process is running;
 * the file's name contains the process id.
 */
const abandonedAfter = 60 * 60 * 1000;

/** The new content of a file, and how to write it. */
export interface Replacement {
  readonly text: string;
  /** The file mode. If undefined, the system's default (0666 minus the umask). */
  readonly mode: number | undefined;
  /** Information about the old file. The new file gets the same owner, if the system allows that. */
  readonly previous: Stats | undefined;
  /** Asked just before the replacement. If it returns false, the file stays unchanged. */
  readonly isCurrent: () => Promise<boolean>;
  /** If true, the write is faster, but after a power cut the file may be empty. */
  readonly canBeLost?: boolean;
}

/** Replaces the file. Returns false if `isCurrent` returned false and the file stayed unchanged. */
export async function replaceFile(file: string, replacement: Replacement): Promise<boolean> {
  const { text, mode, previous, isCurrent, canBeLost = false } = replacement;
  const temporary = temporaryName(file);
  let isReplaced = false;
  try {
    const handle = await open(temporary, "wx", mode === undefined ? 0o666 : 0o600);
    try {
      await handle.writeFile(text);
      if (previous !== undefined && (previous.uid !== process.getuid?.() || previous.gid !== process.getgid?.())) {
        await handle.chown(previous.uid, previous.gid).catch(unless("EPERM", "EINVAL", "ENOSYS"));
      }
      if (mode !== undefined) await handle.chmod(mode);
      if (!canBeLost) await handle.sync();
    } finally {
      await handle.close();
    }
    if (!(await isCurrent())) return false;
    await rename(temporary, file);
    isReplaced = true;
    return true;
  } finally {
    if (!isReplaced) await rm(temporary, { force: true });
  }
}

/**
 * Removes temporary files of killed processes. The caller must hold the file's lock, so that no other process is
 * writing.
 */
export async function sweepTemporaries(file: string): Promise<void> {
  const folder = dirname(file);
  for (const name of await readdir(folder)) {
    const writer = writerOf(name, basename(file));
    if (writer === undefined) continue;
    const path = join(folder, name);
    const stats = await lstat(path).catch(unless("ENOENT"));
    if (stats?.isFile() !== true) continue;
    if (!isProcessRunning(writer) || Date.now() - stats.mtimeMs > abandonedAfter) await rm(path, { force: true });
  }
}

/**
 * The name of a temporary file. It contains the process id, so that `sweepTemporaries` can remove the file after the
 * process has ended.
 */
export function temporaryName(file: string): string {
  return `${file}.fairlead-${process.pid}-${Math.trunc(Math.random() * 2 ** 48).toString(36)}.tmp`;
}

function writerOf(name: string, target: string): number | undefined {
  if (!name.startsWith(`${target}.fairlead-`)) return undefined;
  const match = /^(\d+)-[0-9a-z]+[.]tmp$/.exec(name.slice(`${target}.fairlead-`.length));
  return match === null ? undefined : Number(match[1]);
}

/**
 * The error codes of file systems that have no hard links, or do not allow them. There, a process that is killed between
 * creating and writing the file leaves an empty file.
 */
const withoutLinks: ReadonlySet<unknown> = new Set(["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL"]);

/** Creates the file, for this user only. Returns false if it exists. If it cannot be written, no file is left. */
export async function createFile(
  path: string,
  text: string,
  temporary: string = temporaryName(path),
): Promise<boolean> {
  try {
    await writeNew(temporary, text);
    await link(temporary, path).catch((error: unknown) => {
      if (!withoutLinks.has(systemCode(error))) throw error;
      return writeNew(path, text);
    });
    return true;
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    return false;
  } finally {
    // A temporary file that is left does no harm.
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    // The disk is full: the file exists, but it is empty or incomplete.
    if (systemCode(error) !== "EEXIST") await rm(path, { force: true }).catch(() => undefined);
    throw error;
  }
}
