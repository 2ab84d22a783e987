/** Which folder a trust command is about: the one named, else the workspace root. */

import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { locate } from "@fairlead/core/settings/read/paths";
import { configurationOptions } from "../../shell/configuration.ts";
import type { Context } from "../../shell/verb.ts";

/** The same context, with the folder named as operand in the place of `-C`. */
export function inFolder(context: Context): Context {
  const [folder] = context.operands;
  return folder === undefined ? context : { ...context, globals: { ...context.globals, root: folder } };
}

/** The real path of the folder; as written when it is gone, so that its rule can still be removed. */
export async function folderOf(context: Context): Promise<string> {
  const [folder] = context.operands;
  if (folder === undefined) return (await locate(configurationOptions(context))).root;
  const path = resolve(context.io.cwd, folder);
  return realpath(path).catch(() => path);
}
