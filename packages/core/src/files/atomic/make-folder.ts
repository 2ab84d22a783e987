/**
 * Makes a folder, and those above it, one by one. Not with Node's `recursive`: where a file system answers "no such
 * folder" to a new one in a folder that is there (`/proc`), that tries for ever and no signal ends it.
 */

import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { notWritten, systemCode, unless } from "../system-error.ts";

/** Creates the folder and its parents with `mode`; existing folders keep their mode. */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const folder = resolve(path);
  const found = await stat(folder).catch(unless("ENOENT"));
  if (found?.isDirectory()) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder), mode);
  try {
    await mkdir(folder, mode);
  } catch (error) {
    const there = await stat(folder).catch(unless("ENOENT"));
    // Another process may have created it.
    if (there?.isDirectory()) return;
    throw there === undefined ? toWords(folder, error) : error;
  }
}

/** Where nothing is there afterwards, two answers of the system say something else than what they mean. */
function toWords(folder: string, error: unknown): unknown {
  const code = systemCode(error);
  if (code === "EEXIST") return notWritten(folder, "it is a symbolic link that leads nowhere", error);
  return code === "ENOENT" ? notWritten(folder, "no folder can be made there", error) : error;
}
