/**
 * Finds the command with which other programs start Fairlead. Its paths are absolute and, if possible, stay valid after
 * an upgrade.
 */

import { realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { isInside, realPathOf } from "@fairlead/core/files/real-path";
import type { Io } from "../shell/io.ts";

/** The command that starts this Fairlead: Node with the path of Fairlead's main script, or the single executable. */
export interface OwnCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Whether npm may remove the main script at any time, because it is in the cache of `npx`. */
  readonly isTemporary: boolean;
}

/**
 * Returns the command that starts this Fairlead.
 *
 * @param root The workspace. Links in it are not used, because an untrusted workspace could replace them later.
 */
export async function ownCommand(
  { program, env, platform }: Pick<Io, "program" | "env" | "platform">,
  root: string,
): Promise<OwnCommand> {
  const { node, file } = program ?? { node: process.execPath, file: process.argv[1] ?? "" };
  const inPath = platform === "win32" ? [] : (env["PATH"] ?? "").split(":").filter((folder) => isAbsolute(folder));
  const real = await Promise.all(inPath.map(realPathOf));
  const folders = inPath.filter((_folder, at) => !isInside(real[at] ?? "", root));
  if (file === undefined) return { command: await stablest(node, folders, "fairlead"), args: [], isTemporary: false };
  const ownFile = await stablest(file, folders, "fairlead");
  return {
    command: await stablest(node, folders, "node"),
    args: [ownFile],
    isTemporary: /[/\\]_npx[/\\]/.test(ownFile),
  };
}

/** Matches a version in a path, such as `Cellar/node/22.1.0`. An upgrade removes such a path. */
const versioned = /\d+\.\d+/;

/**
 * Replaces a path with a version, such as `Cellar/node/22.1.0/bin/node`, by a link to the same file, such as
 * `/usr/local/bin/node`. An upgrade usually keeps the link.
 */
async function stablest(path: string, folders: readonly string[], name: string): Promise<string> {
  if (!versioned.test(path)) return path;
  const real = await realpath(path).catch(() => path);
  for (const folder of folders) {
    const link = join(folder, name);
    if (!versioned.test(link) && (await realpath(link).catch(() => undefined)) === real) return link;
  }
  return versioned.test(real) ? path : real;
}
