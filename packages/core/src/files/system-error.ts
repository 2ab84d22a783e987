/** Explains errors of the file system in words. */

import { errorMessage } from "@fairlead/wire/text";
import { HostError } from "../errors.ts";

const words: ReadonlyMap<string, string> = new Map([
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"],
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk quota is used up"],
  ["EISDIR", "it is a folder, not a file"],
  ["ENOTDIR", "a part of its path is a file, not a folder"],
  ["EEXIST", "a part of its path is a file, not a folder"],
  ["ELOOP", "its symbolic links go in a circle"],
  ["ENAMETOOLONG", "its name is too long"],
  ["EMFILE", "too many files are open"],
  ["ENFILE", "too many files are open"],
]);

/** The error's code, such as `ENOENT`; undefined if it has none. For a `HostError`, its own code. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Describes a file system error in words; for unknown codes, its own message. */
export function explain(error: unknown): string {
  return words.get(systemCode(error) ?? "") ?? errorMessage(error);
}

/**
 * Returns a handler that ignores errors with these codes and throws all others: `rename(...).catch(unless("ENOENT"))`.
 */
export function unless(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(systemCode(error) ?? "")) throw error;
    return undefined;
  };
}

/** The error for a file that cannot be read. `reason` ends the message. */
export function notRead(path: string, reason: string, cause: unknown): HostError {
  return new HostError("internal", `${path} cannot be read: ${reason}`, {
    next: `Make sure that you can read ${path}, then try again.`,
    cause,
  });
}

/** The error for a file that cannot be written. `reason` is a part of the message. */
export function notWritten(path: string, reason: string, cause?: unknown): HostError {
  return new HostError("internal", `${path} cannot be written: ${reason}; Fairlead did not change it`, {
    next: `Make sure that ${path} can be written, then try again.`,
    cause,
  });
}

/** Turns a file system error during a write into a `HostError`. Returns any other error unchanged. */
export function toWriteError(path: string, error: unknown): unknown {
  return error instanceof HostError || systemCode(error) === undefined
    ? error
    : notWritten(path, explain(error), error);
}
