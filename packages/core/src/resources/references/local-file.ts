/** Files that a person may refer to: those of the workspace, wherever links in it lead, and nothing outside. */

import { opendir, realpath, stat } from "node:fs/promises";
import { basename, dirname, relative, resolve } from "node:path";
import { isInside } from "../../files/inside.ts";
import { explain, systemCode } from "../../files/system-error.ts";
import { closest } from "../../text/closest.ts";

export interface LocalFile {
  readonly kind: "file" | "folder";
  /** Its real path. */
  readonly path: string;
  /** As seen from the workspace. */
  readonly name: string;
}

export type FileFinding =
  | LocalFile
  /** `near`: one beside it that has nearly that name. */
  | { readonly kind: "absent"; readonly near?: string }
  /** The reason completes "it …". */
  | { readonly kind: "refused"; readonly reason: string };

export type FindFile = (path: string) => Promise<FileFinding>;

const absences: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "EINVAL"]);
const mostNames = 1000;

export function createFileFinder(workspace: string): FindFile {
  return async (path) => {
    // To look at some of these would ask another machine.
    if (path.includes("\0") || /^[\\/]{2}/.test(path)) return { kind: "absent" };
    if (/^~[\\/]/.test(path)) return outside;
    try {
      return await find(path, await realpath(workspace));
    } catch (error) {
      return { kind: "refused", reason: `cannot be read: ${explain(error)}` };
    }
  };
}

const outside: FileFinding = { kind: "refused", reason: "lies outside of the workspace" };

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

/** Only for what can hardly be anything but a path: a name alone may be a person's. */
async function nearName(full: string, root: string): Promise<string | undefined> {
  const isPath = dirname(full) !== root || basename(full).slice(1).includes(".");
  const folder = await realpath(dirname(full)).catch(() => undefined);
  if (!isPath || folder === undefined || !isInside(folder, root)) return undefined;
  const names = await namesIn(folder, mostNames).catch(() => []);
  const near = closest(basename(full), names);
  return near === undefined ? undefined : relative(root, resolve(folder, near));
}

/** Folders with a slash; some of them, in no order, if there are more than that. */
export async function namesIn(folder: string, most: number): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(folder)) {
    if (names.length === most) break;
    names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
  }
  return names;
}
