/** Follows symbolic links to the file that is written, so that all programs lock the same file. */

import { readlink, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { HostError } from "../errors.ts";
import { makeFolder } from "./atomic/make-folder.ts";
import { isInside } from "./inside.ts";
import { realPathOf } from "./real-path.ts";
import { notWritten, unless } from "./system-error.ts";

/** The number of links to follow, as in Linux. */
const linksFollowed = 40;

export interface TargetOptions {
  /** A real folder that must contain the file, because a workspace may contain links to any place. */
  readonly within?: string;
}

/** Finds the file, which need not exist. Creates its folder, but not the folder of a link's target. */
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
    next: `Put a file or folder in the place of the link, or edit ${target} itself.`,
  });
}
