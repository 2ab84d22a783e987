/** How this command is called where the person is: commands that are shown must work when typed. */

import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { replaceSafe, type SafeText, safe } from "@fairlead/core/text/safe-text";
import type { Io } from "./io.ts";

export function commandWord({ env, platform }: Pick<Io, "env" | "platform">): SafeText {
  // Under npm the PATH has folders that the person's shell does not have.
  if (env["npm_lifecycle_event"] !== undefined) return safe`npx fairlead`;
  const isWindows = platform === "win32";
  const folders = (env["PATH"] ?? "").split(isWindows ? ";" : ":").filter((folder) => folder !== "");
  const isThere = folders.some((folder) => isExecutable(join(folder, isWindows ? "fairlead.cmd" : "fairlead")));
  return isThere ? safe`fairlead` : safe`npx fairlead`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

// The first words of the table of verbs, which itself leads to everything that prints.
const ours =
  /(?<!npx |[\w./@-])fairlead (?=(?:mcp|tools|call|resources|read|prompts?|trust|policy|lock|history|secret|settings|doctor|completion|help)\b|-p\b|--)/g;

/** A sentence with commands of ours in it, as they can be typed here. */
export function withCommandWord(text: SafeText, word: SafeText): SafeText {
  return replaceSafe(text, ours, () => safe`${word} `);
}
