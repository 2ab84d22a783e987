/** The built command as a process of its own. */

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
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
export function runPiped(machine: Machine, input: string, ...argv: readonly string[]): Promise<Ending> {
  const { child, ending } = startPiped(machine, ...argv);
  child.stdin.end(input);
  return ending;
}

/** Starts the command. The test writes its stdin. */
export function startPiped(
  { env, project }: Machine,
  ...argv: readonly string[]
): { readonly child: ChildProcessWithoutNullStreams; readonly ending: Promise<Ending> } {
  const child = spawn(process.execPath, [program, ...argv], { cwd: project, env, stdio: "pipe" });
  return { child, ending: endingOf(child) };
}

async function endingOf(child: ChildProcess & Readonly<Record<"stdout" | "stderr", Readable>>): Promise<Ending> {
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: Number(code), stdout, stderr };
}
