/** Programs that a machine's `PATH` leads to: scripts of a few lines, found and run like any other. */

import { chmod } from "node:fs/promises";
import { join } from "node:path";
import type { Machine } from "./machine.ts";

/** `script` has only what a shell knows by itself. */
export async function shellProgram(here: Machine, name: string, script: string): Promise<string> {
  const file = await here.write(name, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

/** A `PATH` with these folders of the machine, and the command itself, on it and nothing else. */
export function pathOf(here: Machine, ...folders: readonly string[]): string {
  return ["installed", ...folders].map((folder) => join(here.path, folder)).join(":");
}
