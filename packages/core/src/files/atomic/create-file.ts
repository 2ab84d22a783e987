/** Creates a file that must not exist yet, in one step with its content: no process sees a part of it. */

import { link, rm, writeFile } from "node:fs/promises";
import { systemCode } from "../system-error.ts";
import { temporaryName } from "./replace-file.ts";

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
