/** Finds the file behind a path, whatever links lead to it, so that everyone locks and writes the same one. */

import { readlink, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { HostError } from "../errors.ts";
import { makeFolder } from "./atomic/make-folder.ts";
import { isInside } from "./inside.ts";
import { realPathOf } from "./real-path.ts";
import { notWritten, unless } from "./system-error.ts";

/** As many as Linux follows. */
const linksFollowed = 40;

export interface TargetOptions {
  /** A real folder that the file must really lie in: what comes with a workspace may be a link to anywhere. */
  readonly within?: string;
}

/** The file need not exist. Its folder is made, but not one that a link of its name points to. */
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
