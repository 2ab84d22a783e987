/** Creates Fairlead's state folder, which only its owner can read. */

import { chmod, stat } from "node:fs/promises";
import { toWriteError, unless } from "../system-error.ts";
import { makeFolder } from "./make-folder.ts";

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

/** Makes a file or folder, if it exists, readable by its owner only. */
export async function keepPrivate(path: string): Promise<void> {
  const stats = await stat(path).catch(unless("ENOENT", "ENOTDIR", "EACCES", "ELOOP"));
  if (stats === undefined || (stats.mode & others) === 0) return;
  // Not a shared folder such as /tmp; the files in it are private themselves.
  if ((stats.mode & sticky) !== 0) return;
  const mode = stats.isDirectory() ? privateFolderMode : privateFileMode;
  // Some file systems have no modes, and another user's file cannot be changed.
  await chmod(path, mode).catch(unless("EPERM", "ENOTSUP", "ENOSYS", "EROFS"));
}
