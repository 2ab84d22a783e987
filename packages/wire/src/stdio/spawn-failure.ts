/** Finds out why a command could not be started, because the system's error code alone can have several causes. */

import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { WireError } from "../errors.ts";
import { errorMessage } from "../shapes/text.ts";
import type { StdioTarget } from "../target.ts";

/** Returns the error `spawn_failed`, whose message explains the cause. */
export async function spawnFailure(target: StdioTarget, cause: unknown): Promise<WireError> {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const why = await reason(target, code, cause);
  return new WireError("spawn_failed", `cannot start "${target.command}": ${why}`, { step: "spawn" }, { cause });
}

async function reason(target: StdioTarget, code: unknown, cause: unknown): Promise<string> {
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
    case "EACCES":
      return (await folderProblem(target.cwd)) ?? (await commandProblem(target, code));
    case "E2BIG":
      return "its arguments and environment are longer than the system allows";
    case "EMFILE":
    case "ENFILE":
      return "too many files are open";
    case "EAGAIN":
    case "ENOMEM":
      return "the system cannot start another process (no memory, or too many processes)";
    case "ERR_INVALID_ARG_VALUE":
      return "the command is empty, or its command line or environment contains a NUL character";
    default:
      return errorMessage(cause);
  }
}

/** If the working folder is missing, Node reports the same error code as for a missing command. */
async function folderProblem(cwd: string): Promise<string | undefined> {
  try {
    if (!(await stat(cwd)).isDirectory()) return `cwd is not a folder: ${cwd}`;
    await access(cwd, constants.X_OK);
    return undefined;
  } catch (error) {
    const denied = error instanceof Error && "code" in error && error.code === "EACCES";
    return denied ? `no permission to enter cwd: ${cwd}` : `cwd does not exist: ${cwd}`;
  }
}

async function commandProblem(target: StdioTarget, code: string): Promise<string> {
  const { command, cwd, env } = target;
  const isPath = isAbsolute(command) || /[/\\]/.test(command);
  const path = env["PATH"] ?? env["Path"] ?? "";
  const candidates = isPath
    ? [resolve(cwd, command)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder), command));
  const found = await firstFile(candidates);
  if (found === undefined) {
    return isPath
      ? `the file does not exist: ${candidates[0]}`
      : `the command is not in the server's PATH${path === "" ? ", which is empty" : ""}`;
  }
  if (code === "ENOENT") return `the interpreter named in the first line of ${found} does not exist`;
  return `${found} is not an executable file`;
}

async function firstFile(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    const isThere = await stat(file).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}
