/** The one line that takes back what was done to the settings, or why there is none. */

import { HostError } from "@fairlead/core/errors";
import { whyNotServerName } from "@fairlead/core/settings/define/server-name";
import { toSafeJson, toSafeLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { isObject } from "@fairlead/wire/json";
import { holdsSecret } from "../../output/servers/entry-redaction.ts";
import type { Context, Globals } from "../../shell/verb.ts";
import type { Destination, ScopeWord } from "./add/destination.ts";
import { type Entry, refuseInvalidEntry } from "./add/new-entry.ts";

/** `noUndo` completes "no undo line: …". */
export type Undo = { readonly undo: string } | { readonly noUndo: string };

export function removeLine(name: string, scope: ScopeWord, globals: Globals): string {
  return `fairlead mcp remove ${placeWords(globals)}-s ${scope} ${toShellWord(name)}`;
}

export interface Before {
  readonly name: string;
  /** As it lay in the file. */
  readonly entry: unknown;
  /** Whether the line may approve it again, which `mcp add` does by itself. */
  readonly approved: boolean;
}

/**
 * Puts an entry back as it was. The line must hold everything, secrets written out in it included:
 * then it is for the eyes at a terminal only, and absent where a log may be kept.
 */
export function restore(
  { name, entry, approved }: Before,
  { scope, word }: Pick<Destination, "scope" | "word">,
  { io, globals }: Pick<Context, "io" | "globals">,
): Undo {
  if (!isObject(entry)) return { noUndo: "what was there was not an entry, { … }" };
  const refusal = whyRefused(name, entry, scope);
  if (refusal !== undefined) return { noUndo: `fairlead mcp add would refuse the entry as it was: ${refusal}` };
  const isForEyes = (globals.json ? io.stdout : io.stderr).isTTY === true;
  if (holdsSecret(entry) && !isForEyes)
    return { noUndo: "the entry had values written out in it that may be secrets, and this may be a log" };
  const options = `${placeWords(globals)}--replace ${scope === "workspace" && !approved ? "--no-approve " : ""}-s ${word}`;
  const undo = `fairlead mcp add ${options} ${toShellWord(name)} ${toShellWord(toSafeJson(entry, 0))}`;
  return toSafeLine(undo) === undo ? { undo } : { noUndo: "it would have characters in it that cannot be typed" };
}

function whyRefused(name: string, entry: Entry, scope: Destination["scope"]): string | undefined {
  const flaw = whyNotServerName(name);
  if (flaw !== undefined) return `its name ${flaw}`;
  try {
    refuseInvalidEntry({ name, entry }, scope);
    return undefined;
  } catch (error) {
    if (error instanceof HostError) return error.message;
    throw error;
  }
}

/** The options that said which files are meant, with a space behind them. */
export function placeWords({ root, settings }: Globals): string {
  const words = [
    root === undefined ? "" : `-C ${toShellWord(root)} `,
    settings === undefined ? "" : `--settings ${toShellWord(settings)} `,
  ];
  return words.join("");
}
