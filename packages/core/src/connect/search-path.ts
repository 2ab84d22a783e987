/** Searches `PATH` for commands. */

import { access, constants, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { isInside } from "../files/inside.ts";

/** The system's search path if `PATH` is not set. An empty `PATH` means the current folder. */
export const systemPath = "/bin:/usr/bin";

/** A search path, and the entries that were removed from it. */
export interface SearchPath {
  readonly path: string;
  readonly dropped: readonly string[];
}

/** Removes entries that an untrusted folder could control: relative ones, and those inside `root`. */
export async function withoutUntrusted(path: string, root: string | undefined): Promise<SearchPath> {
  const kept: string[] = [];
  const dropped: string[] = [];
  for (const entry of path.split(delimiter)) {
    const isSafe = isAbsolute(entry) && !(root !== undefined && (await liesIn(entry, root)));
    (isSafe ? kept : dropped).push(entry);
  }
  return { path: kept.join(delimiter), dropped };
}

/** Whether a path is inside a folder, directly or through a symbolic link. */
export async function liesIn(path: string, root: string): Promise<boolean> {
  if (isInside(resolve(path), root)) return true;
  const real = await realpath(path).catch(() => undefined);
  return real !== undefined && isInside(real, root);
}

/** The executable file of a command; undefined if there is none, and always on Windows, where the system searches. */
export async function findProgram(command: string, path: string, cwd: string): Promise<string | undefined> {
  if (process.platform === "win32") return undefined;
  const places = command.includes("/")
    ? [resolve(cwd, command)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder), command));
  for (const place of places) if (await isExecutable(place)) return place;
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    // Missing or not executable: the system would try the next folder too.
    return false;
  }
}
