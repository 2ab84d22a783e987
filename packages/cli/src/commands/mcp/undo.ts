/** The one line that takes back what was done to the settings. */

import { toSafeJson } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { holdsSecret } from "../../output/server-redaction.ts";
import type { Context, Globals } from "../../verb.ts";
import type { ScopeWord } from "./destination.ts";
import type { Entry } from "./new-entry.ts";

export function removeLine(name: string, scope: ScopeWord, globals: Globals): string {
  return `fairlead mcp remove ${placeWords(globals)}-s ${scope} ${toShellWord(name)}`;
}

/**
 * Puts an entry back as it was. It must hold everything, secrets written out in it included:
 * then it is for the eyes at a terminal only, and absent where a log may be kept.
 */
export function restoreLine(
  name: string,
  before: unknown,
  scope: ScopeWord,
  { io, globals }: Pick<Context, "io" | "globals">,
): string | undefined {
  if (typeof before !== "object" || before === null || Array.isArray(before)) return undefined;
  if (holdsSecret(before as Entry) && io.stderr.isTTY !== true) return undefined;
  const snippet = toShellWord(toSafeJson(before, 0));
  return `fairlead mcp add ${placeWords(globals)}--replace -s ${scope} ${toShellWord(name)} ${snippet}`;
}

/** The options that said which files are meant, with a space behind them. */
export function placeWords({ root, settings }: Globals): string {
  const words = [
    root === undefined ? "" : `-C ${toShellWord(root)} `,
    settings === undefined ? "" : `--settings ${toShellWord(settings)} `,
  ];
  return words.join("");
}
