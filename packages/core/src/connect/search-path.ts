/** Where commands are looked for, and what is found there. */

import { access, constants, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { isInside } from "../files/inside.ts";

/** Where the system looks for a command if there is no `PATH` at all; an empty one means the current folder. */
export const systemPath = "/bin:/usr/bin";

export interface SearchPath {
  readonly path: string;
  readonly dropped: readonly string[];
}

/** Without what a folder that is not trusted could have put there: relative entries, and those inside `root`. */
export async function outside(path: string, root: string | undefined): Promise<SearchPath> {
  const kept: string[] = [];
  const dropped: string[] = [];
  for (const entry of path.split(delimiter)) {
    const isSafe = isAbsolute(entry) && !(root !== undefined && (await liesIn(entry, root)));
    (isSafe ? kept : dropped).push(entry);
  }
  return { path: kept.join(delimiter), dropped };
}

/** Whether something is in a folder, under its own name or by way of a link. */
export async function liesIn(path: string, root: string): Promise<boolean> {
  if (isInside(resolve(path), root)) return true;
  const real = await realpath(path).catch(() => undefined);
  return real !== undefined && isInside(real, root);
}

/** The file that a command stands for, as the system would find it; for Windows that is left to the system. */
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
    // Not there, or not for us: the system would go on to the next place too.
    return false;
  }
}
