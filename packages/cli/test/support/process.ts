/** The built command as a process of its own. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Ending, Machine } from "./machine.ts";

export const program: string = fileURLToPath(new URL("../../bin/fairlead.cjs", import.meta.url));

export async function runProcess({ env, project }: Machine, ...argv: readonly string[]): Promise<Ending> {
  const child = spawn(process.execPath, [program, ...argv], { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: Number(code), stdout, stderr };
}
