/** Creates Fairlead's state folder, which only the user can read. */

import { chmod, mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { notWritten, systemCode, toWriteError, unless } from "../system-error.ts";

export const privateFileMode = 0o600;
const privateFolderMode = 0o700;
const others = 0o077;
const sticky = 0o1000;

export async function ensurePrivateFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder, privateFolderMode);
    await keepPrivate(folder);
  } catch (error) {
    throw toWriteError(folder, error);
  }
}

/** If the file or folder exists, makes it readable by its owner only. */
export async function keepPrivate(path: string): Promise<void> {
  const stats = await stat(path).catch(unless("ENOENT", "ENOTDIR", "EACCES", "ELOOP"));
  if (stats === undefined || (stats.mode & others) === 0) return;
  // A shared folder such as /tmp keeps its mode. Fairlead's files in it have their own private modes.
  if ((stats.mode & sticky) !== 0) return;
  const mode = stats.isDirectory() ? privateFolderMode : privateFileMode;
  // An error is ignored, because some file systems have no modes, and because another user's file cannot be changed.
  await chmod(path, mode).catch(unless("EPERM", "ENOTSUP", "ENOSYS", "EROFS"));
}

/**
 * Creates the folder and its parents with `mode`; existing folders keep their mode. Does not use Node's `recursive`,
 * which never returns on file systems such as `/proc`.
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const folder = resolve(path);
  const found = await stat(folder).catch(unless("ENOENT"));
  if (found?.isDirectory()) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder), mode);
  try {
    await mkdir(folder, mode);
  } catch (error) {
    const there = await stat(folder).catch(unless("ENOENT"));
    // The folder exists if another process has created it meanwhile.
    if (there?.isDirectory()) return;
    throw there === undefined ? toWords(folder, error) : error;
  }
}

/** Replaces the messages of `EEXIST` and `ENOENT`, which would mislead the user. */
function toWords(folder: string, error: unknown): unknown {
  const code = systemCode(error);
  if (code === "EEXIST") return notWritten(folder, "it is a symbolic link whose target does not exist", error);
  return code === "ENOENT" ? notWritten(folder, "no folder can be created there", error) : error;
}
