/** Changes a text file that other programs may change too: takes a lock, and replaces the whole file at once. */

import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { HostError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { readText } from "../read-text.ts";
import { findWritableFile, type TargetOptions } from "../real-path.ts";
import { notWritten, toWriteError, unless } from "../system-error.ts";
import { withLock } from "./lock.ts";
import { replaceFile, sweepTemporaries } from "./replace-file.ts";

/**
 * Maximum number of attempts to change a file. An attempt fails if another program changes the file at the same time.
 */
const attempts = 20;

/** Mode, size limit and allowed folder for `updateText`. */
export interface UpdateOptions extends TargetOptions {
  /** The mode of a new file. Default: the system's (0666 minus the umask). An existing file keeps its mode. */
  readonly mode?: number;
  /** The largest file that is read or written. Default: `limits.settingsBytes`. */
  readonly maxBytes?: number;
}

/**
 * Changes a file. `change` gets the current text (undefined if there is no file) and returns the new text. If it
 * returns undefined or the same text, nothing is written. It may be called several times.
 */
export async function updateText(
  path: string,
  change: (text: string | undefined) => string | undefined,
  options: UpdateOptions = {},
): Promise<"written" | "unchanged"> {
  try {
    const folder = await stat(dirname(path)).catch(unless("ENOENT"));
    // Without anything to write, no folder is created: a new `.gemini` folder would mark a workspace root.
    if (folder === undefined && change(undefined) === undefined) return "unchanged";
    const file = await findWritableFile(path, options);
    return await withLock(file, async () => {
      await sweepTemporaries(file);
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const outcome = await tryUpdate(file, change, options);
        if (outcome !== "overtaken") return outcome;
      }
      throw new HostError("busy", `another program keeps changing ${path}; Fairlead did not change it`, {
        next: "Close the other program, then try again.",
      });
    });
  } catch (error) {
    throw toWriteError(path, error);
  }
}

async function tryUpdate(
  file: string,
  change: (text: string | undefined) => string | undefined,
  { mode, maxBytes = limits.settingsBytes }: UpdateOptions,
): Promise<"written" | "unchanged" | "overtaken"> {
  const previous = await stat(file).catch(unless("ENOENT"));
  const found = await readText(file, maxBytes);
  if (found.kind === "unreadable") throw notWritten(file, found.reason);
  const before = found.kind === "text" ? found.text : undefined;
  const after = change(before);
  if (after === undefined || after === before) return "unchanged";
  if (Buffer.byteLength(after) > maxBytes) throw tooLarge(file, maxBytes);
  // The user root can write to read-only files, so Fairlead checks the mode itself.
  if (previous !== undefined && (previous.mode & 0o222) === 0) throw notWritten(file, "it is marked as read-only");
  const isWritten = await replaceFile(file, {
    text: after,
    mode: previous === undefined ? mode : previous.mode & 0o7777,
    previous,
    isCurrent: async () => isSame(previous, await stat(file).catch(unless("ENOENT"))),
  });
  return isWritten ? "written" : "overtaken";
}

function isSame(one: Stats | undefined, other: Stats | undefined): boolean {
  return one?.ino === other?.ino && one?.size === other?.size && one?.mtimeMs === other?.mtimeMs;
}

function tooLarge(path: string, maxBytes: number): HostError {
  return new HostError("too_large", `${path} would grow beyond ${maxBytes} bytes; Fairlead did not change it`);
}
