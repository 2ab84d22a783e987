/** Finds out whether suggested commands must begin with `fairlead` or `npx --no -- fairlead`. */

import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { replaceSafe, type SafeText, safe } from "@fairlead/core/text/safe-text";
import type { Io } from "./verb.ts";

/**
 * Returns `fairlead` if it is on `PATH`, otherwise `npx --no -- fairlead`: npx runs the package of the folder and
 * downloads none, because anyone could publish a package of this name.
 */
export function commandWord({ env, platform }: Pick<Io, "env" | "platform">): SafeText {
  // In an npm script, PATH has more folders than in the user's shell, and `fairlead` may be in one of these.
  if (env["npm_lifecycle_event"] !== undefined) return safe`npx --no -- fairlead`;
  const isWindows = platform === "win32";
  const folders = (env["PATH"] ?? "").split(isWindows ? ";" : ":").filter((folder) => folder !== "");
  const isThere = folders.some((folder) => isExecutable(join(folder, isWindows ? "fairlead.cmd" : "fairlead")));
  return isThere ? safe`fairlead` : safe`npx --no -- fairlead`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

// The command names are copied here, because importing the table of commands would be an import cycle.
const ours =
  /(?<!npx --no -- |[\w./@-])fairlead (?=(?:mcp|connect|disconnect|tools|call|resources|read|prompts?|skills|trust|policy|team|lock|record|serve-recording|serve|console|approvals|daemon|test|history|secret|settings|conversations|show|replay|export|clean|doctor|bundle|bug-report|generate|completion|help)\b|-p\b|--)/g;

/** Replaces `fairlead` in the suggested commands of a text by the word that works on this machine. */
export function withCommandWord(text: SafeText, word: SafeText): SafeText {
  return replaceSafe(text, ours, () => safe`${word} `);
}
