/** The built command as a process of its own. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Ending, Machine } from "./machine.ts";

export const program: string = fileURLToPath(new URL("../../bin/fairlead.cjs", import.meta.url));

export function runProcess({ env, project }: Machine, ...argv: readonly string[]): Promise<Ending> {
  return endingOf(
    spawn(process.execPath, [program, ...argv], { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] }),
  );
}

/** @param input What the command reads from its stdin. */
export function runPiped({ env, project }: Machine, input: string, ...argv: readonly string[]): Promise<Ending> {
  const child = spawn(process.execPath, [program, ...argv], { cwd: project, env, stdio: "pipe" });
  child.stdin.end(input);
  return endingOf(child);
}

async function endingOf(child: ChildProcess & Readonly<Record<"stdout" | "stderr", Readable>>): Promise<Ending> {
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: Number(code), stdout, stderr };
}
