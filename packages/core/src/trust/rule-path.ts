/** Finds the real folder that a trust rule applies to. */

import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { systemCode } from "../files/system-error.ts";

/** `gone`: the folder does not exist or cannot be read. `link`: the path is now a symbolic link. */
export type RulePath = { readonly kind: "folder"; readonly real: string } | { readonly kind: "gone" | "link" };

/** Resolves a rule's path. A trusting rule does not follow a link at its end, because whoever creates that link would choose what is trusted. */
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

/** Treats a file system error as "does not exist" and throws anything else. */
async function reach<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (systemCode(error) !== undefined) return undefined;
    throw error;
  }
}
