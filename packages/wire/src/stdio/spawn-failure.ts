/** Says why a command could not be started, in words a person can act on; the system's own code rarely says it all. */

import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { WireError } from "../errors.ts";
import { errorMessage } from "../shapes/text.ts";
import type { StdioTarget } from "../target.ts";

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
      return (await folderTrouble(target.cwd)) ?? (await commandTrouble(target, code));
    case "E2BIG":
      return "its arguments and environment are longer than the system allows";
    case "EMFILE":
    case "ENFILE":
      return "too many files are open";
    case "EAGAIN":
    case "ENOMEM":
      return "the system has no room for another process";
    case "ERR_INVALID_ARG_VALUE":
      return "its command line or environment is empty or contains a NUL character";
    default:
      return errorMessage(cause);
  }
}

/** A missing working folder looks like a missing command. */
async function folderTrouble(cwd: string): Promise<string | undefined> {
  try {
    if (!(await stat(cwd)).isDirectory()) return `its working folder is not a folder: ${cwd}`;
    await access(cwd, constants.X_OK);
    return undefined;
  } catch (error) {
    const denied = error instanceof Error && "code" in error && error.code === "EACCES";
    return denied ? `its working folder may not be entered: ${cwd}` : `its working folder does not exist: ${cwd}`;
  }
}

async function commandTrouble(target: StdioTarget, code: string): Promise<string> {
  const { command, cwd, env } = target;
  const isPath = isAbsolute(command) || /[/\\]/.test(command);
  const path = env["PATH"] ?? env["Path"] ?? "";
  const places = isPath
    ? [resolve(cwd, command)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder), command));
  const found = await firstFile(places);
  if (found === undefined) {
    return isPath
      ? `there is no file ${places[0]}`
      : `there is no such command in its PATH (${path || "which is empty"})`;
  }
  if (code === "ENOENT") return `${found} is there, but the interpreter it names is not`;
  return `${found} is not an executable file`;
}

async function firstFile(places: readonly string[]): Promise<string | undefined> {
  for (const place of places) {
    const isThere = await stat(place).then(
      () => true,
      () => false,
    );
    if (isThere) return place;
  }
  return undefined;
}
