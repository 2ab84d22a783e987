/**
 * Writes a generated file, with a first line that identifies it. Never overwrites a file that Fairlead did not
 * generate.
 */

import { resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { updateText } from "@fairlead/core/files/atomic/update-text";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";

const headerStart = "// Written by `fairlead generate ";

/**
 * Returns the first line, which names the command. It has no time and no version, so that the same catalogs always give
 * the same file.
 */
export function generatedBy(kind: "ts" | "cli", servers: readonly string[]): string {
  const words = servers.map((name) => toVisibleLine(toShellWord(name)));
  return `${headerStart}${kind} ${words.join(" ")}\`. Do not edit: run the command again.`;
}

/**
 * Writes the file.
 * @throws HostError `usage` if the file exists and was not generated
 */
export async function writeGenerated(
  given: string,
  text: string,
  { cwd, mode }: { readonly cwd: string; readonly mode?: number },
): Promise<"written" | "unchanged"> {
  const replace = (before: string | undefined): string => {
    if (before === undefined || before === "" || before.slice(0, 200).includes(headerStart)) return text;
    throw new HostError("usage", `${given} exists and was not written by fairlead generate`, {
      next: "delete this file, or choose another file with -o",
    });
  };
  return updateText(resolve(cwd, given), replace, mode === undefined ? {} : { mode });
}
