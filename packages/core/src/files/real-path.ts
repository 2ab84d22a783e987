/** Resolves symbolic links in paths, and checks whether a path is inside a folder. */

import { lstat, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { HostError } from "../errors.ts";
import { makeFolder } from "./atomic/private-folder.ts";
import { notWritten, unless } from "./system-error.ts";

/** The path with symbolic links resolved. Parts that do not exist stay as written. */
export async function realPathOf(path: string): Promise<string> {
  const written = resolve(path);
  const real = await realpath(written).catch(() => undefined);
  if (real !== undefined || dirname(written) === written) return real ?? written;
  return join(await realPathOf(dirname(written)), basename(written));
}

/** Whether `path` is `folder` or is inside it. Compares only texts, so resolve symbolic links in both first. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * Whether the path is a symbolic link whose target does not exist. The user expects a file there, so callers report it.
 */
export async function leadsNowhere(path: string): Promise<boolean> {
  // An error is ignored here. The caller reads the file next and gets the same error.
  const isLink = await lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
  if (!isLink) return false;
  return stat(path).then(
    () => false,
    () => true,
  );
}

/** Maximum number of links to follow. Linux has the same limit. */
const linksFollowed = 40;

/** Restricts where a file may be written. */
export interface TargetOptions {
  /**
   * The folder that must contain the file, with symbolic links resolved. Otherwise a link in a workspace could lead to
   * any folder.
   */
  readonly within?: string;
}

/**
 * The path of the file that a write to `path` would change, with symbolic links resolved. Creates the folder of `path`,
 * but not the folder of a link's target.
 */
export async function findWritableFile(path: string, { within }: TargetOptions = {}): Promise<string> {
  let file = resolve(path);
  for (let link = 0; link <= linksFollowed; link += 1) {
    const folder = await realPathOf(dirname(file));
    file = join(folder, basename(file));
    if (within !== undefined && !isInside(file, within)) throw outside(path, file, within);
    if (link === 0) await makeFolder(folder);
    else if ((await stat(folder).catch(unless("ENOENT"))) === undefined)
      throw notWritten(path, `it is a link to ${file}, and the folder ${folder} does not exist`);
    const target = await readlink(file).catch(unless("ENOENT", "EINVAL"));
    if (target === undefined) return file;
    file = resolve(folder, target);
  }
  throw notWritten(path, "its symbolic links go in a circle");
}

function outside(path: string, target: string, within: string): HostError {
  return new HostError("denied", `${path} leads to ${target}, which is outside ${within}; nothing was written`, {
    next: `Replace the link by a file or folder, or edit ${target} itself.`,
  });
}
