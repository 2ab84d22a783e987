/** Finds the file behind a path, whatever links lead to it, so that everyone locks and writes the same one. */

import { mkdir, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { notWritten, unless } from "./system-error.ts";

/** As many as Linux follows. */
const linksFollowed = 40;

/** The file need not exist, nor the target of a link; its folder exists afterwards. */
export async function findTarget(path: string): Promise<string> {
  let file = resolve(path);
  for (let link = 0; link <= linksFollowed; link += 1) {
    await mkdir(dirname(file), { recursive: true });
    file = join(await realpath(dirname(file)), basename(file));
    const target = await readlink(file).catch(unless("ENOENT", "EINVAL"));
    if (target === undefined) return file;
    file = resolve(dirname(file), target);
  }
  throw notWritten(path, "its symbolic links go in a circle");
}
