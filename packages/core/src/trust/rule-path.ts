/** Which real folder a trust rule is about. */

import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { systemCode } from "../files/system-error.ts";

/** `gone`: nothing there today, or out of reach. `link`: a symbolic link stands where a folder was trusted. */
export type RulePath = { readonly kind: "folder"; readonly real: string } | { readonly kind: "gone" | "link" };

/** Distrust follows links. Trust never follows the last one: who can put a link there would choose what is trusted. */
export async function findRulePath(path: string, trusts: "folder" | "parent" | "nothing"): Promise<RulePath> {
  switch (trusts) {
    case "nothing":
      return realPath(path);
    case "folder":
      return ownPath(path);
    case "parent": {
      const child = await ownPath(path);
      return child.kind === "link" ? child : ownPath(dirname(path));
    }
  }
}

/** Not resolved to its end even if a link appears between the look and the use: no real path lies below such a name. */
async function ownPath(path: string): Promise<RulePath> {
  const parent = await realPath(dirname(path));
  if (parent.kind !== "folder") return parent;
  const real = join(parent.real, basename(path));
  const found = await reach(lstat(real));
  if (found === undefined) return { kind: "gone" };
  return found.isSymbolicLink() ? { kind: "link" } : { kind: "folder", real };
}

async function realPath(path: string): Promise<RulePath> {
  const real = await reach(realpath(path));
  return real === undefined ? { kind: "gone" } : { kind: "folder", real };
}

/** A failure of the file system means that nothing can be found there; anything else is a mistake of ours. */
async function reach<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (systemCode(error) !== undefined) return undefined;
    throw error;
  }
}
