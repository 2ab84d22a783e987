/** Finds the folder of a trust command: its argument, or else the workspace root. */

import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { locate } from "@fairlead/core/settings/read/paths";
import { configurationOptions } from "../../shell/configuration.ts";
import type { Context } from "../../shell/verb.ts";

/** Returns the context with the folder argument in place of `-C`. */
export function inFolder(context: Context): Context {
  const [folder] = context.operands;
  return folder === undefined ? context : { ...context, globals: { ...context.globals, root: folder } };
}

/** Returns the folder's real path, or the path as written if it does not exist: its rule can still be removed. */
export async function folderOf(context: Context): Promise<string> {
  const [folder] = context.operands;
  if (folder === undefined) return (await locate(configurationOptions(context))).root;
  const path = resolve(context.io.cwd, folder);
  return realpath(path).catch(() => path);
}
