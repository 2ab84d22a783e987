/** Finds files that the user refers to. Only files inside the workspace are found, after resolving links. */

import { opendir, realpath, stat } from "node:fs/promises";
import { basename, dirname, relative, resolve } from "node:path";
import { isInside } from "../../files/real-path.ts";
import { explain, systemCode } from "../../files/system-error.ts";
import { closest } from "../../text/closest.ts";

export interface LocalFile {
  readonly kind: "file" | "folder";
  /** The real path, with links resolved. */
  readonly path: string;
  /** The path relative to the workspace. */
  readonly name: string;
}

export type FileFinding =
  | LocalFile
  /** `near`: a file with a similar name in the same folder. */
  | { readonly kind: "absent"; readonly near?: string }
  /** The reason is the end of a sentence that begins with "it". */
  | { readonly kind: "refused"; readonly reason: string };

export type FindFile = (path: string) => Promise<FileFinding>;

const absences: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "EINVAL"]);
const mostNames = 1000;

export function createFileFinder(workspace: string): FindFile {
  return async (path) => {
    // Opening a network path would contact another machine.
    if (path.includes("\0") || /^[\\/]{2}/.test(path)) return { kind: "absent" };
    if (/^~[\\/]/.test(path)) return outside;
    try {
      return await find(path, await realpath(workspace));
    } catch (error) {
      return { kind: "refused", reason: `cannot be read: ${explain(error)}` };
    }
  };
}

const outside: FileFinding = { kind: "refused", reason: "is outside the workspace" };

async function find(path: string, root: string): Promise<FileFinding> {
  const full = resolve(root, path);
  let real: string;
  try {
    real = await realpath(full);
  } catch (error) {
    if (!absences.has(systemCode(error) ?? "")) throw error;
    const near = await nearName(full, root);
    return { kind: "absent", ...(near !== undefined && { near }) };
  }
  if (!isInside(real, root)) return outside;
  const stats = await stat(real);
  if (!stats.isFile() && !stats.isDirectory()) return { kind: "refused", reason: "is neither a file nor a folder" };
  return { kind: stats.isFile() ? "file" : "folder", path: real, name: relative(root, real) || "." };
}

/** Suggests a similar name, only for a text that is clearly a path: a single word may be a person's name. */
async function nearName(full: string, root: string): Promise<string | undefined> {
  const isPath = dirname(full) !== root || basename(full).slice(1).includes(".");
  const folder = await realpath(dirname(full)).catch(() => undefined);
  if (!isPath || folder === undefined || !isInside(folder, root)) return undefined;
  const names = await fileNamesIn(folder, mostNames).catch(() => []);
  const near = closest(basename(full), names);
  return near === undefined ? undefined : relative(root, resolve(folder, near));
}

/** The names in a folder, folders with a slash; an arbitrary selection if there are more than `most`. */
export async function fileNamesIn(folder: string, most: number): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(folder)) {
    if (names.length === most) break;
    names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
  }
  return names;
}
