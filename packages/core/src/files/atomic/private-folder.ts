/** Creates folders for Fairlead's state, readable by the user only. */

import { access, chmod, constants, lstat, mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { notWritten, systemCode, toWriteError, unless } from "../system-error.ts";

/** File mode for files that only the user may read and write. */
export const privateFileMode = 0o600;
const privateFolderMode = 0o700;
const others = 0o077;
const sticky = 0o1000;

const danglingLink = "it is a symbolic link whose target does not exist";

/** Creates the folder if necessary, and makes it readable by the user only. */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder, privateFolderMode);
    await keepPrivate(folder);
  } catch (error) {
    throw toWriteError(folder, error);
  }
}

/**
 * Checks whether files can be created in the folder, or whether the folder itself can be created. Writes nothing, so a
 * full disk is not noticed.
 *
 * @throws Error of the file system, such as `EROFS`, or an error that says that the folder is a link without a target
 */
export async function checkWritable(folder: string): Promise<void> {
  const found = await stat(folder).catch(unless("ENOENT"));
  if (found === undefined && (await lstat(folder).catch(unless("ENOENT"))) !== undefined) throw new Error(danglingLink);
  if (found === undefined && dirname(folder) !== folder) return checkWritable(dirname(folder));
  // The dot makes a file in place of the folder an error.
  await access(`${folder}/.`, constants.W_OK | constants.X_OK);
}

/** Makes a file or folder readable by its owner only. Does nothing if it does not exist. */
export async function keepPrivate(path: string): Promise<void> {
  const stats = await stat(path).catch(unless("ENOENT", "ENOTDIR", "EACCES", "ELOOP"));
  if (stats === undefined || (stats.mode & others) === 0) return;
  // A shared folder such as /tmp keeps its mode. Fairlead's files in it are private.
  if ((stats.mode & sticky) !== 0) return;
  const mode = stats.isDirectory() ? privateFolderMode : privateFileMode;
  // Some file systems have no modes, and another user's file cannot be changed. Both errors are ignored.
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
    // Another process may have created the folder meanwhile.
    if (there?.isDirectory()) return;
    throw there === undefined ? toWords(folder, error) : error;
  }
}

/** Replaces the system's messages of `EEXIST` and `ENOENT`, because they do not name the actual problem. */
function toWords(folder: string, error: unknown): unknown {
  const code = systemCode(error);
  if (code === "EEXIST") return notWritten(folder, danglingLink, error);
  return code === "ENOENT" ? notWritten(folder, "no folder can be created there", error) : error;
}
