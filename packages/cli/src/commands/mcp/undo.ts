/** Builds the command that undoes a change of the settings, or the reason why there is none. */

import { HostError } from "@fairlead/core/errors";
import { whyNotServerName } from "@fairlead/core/settings/define/server-name";
import { toSafeJson, toSafeLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { isObject } from "@fairlead/wire/json";
import { holdsSecret } from "../../output/servers/entry-redaction.ts";
import type { Context, Globals } from "../../shell/verb.ts";
import type { Destination, ScopeWord } from "./add/destination.ts";
import { type Entry, refuseInvalidEntry } from "./add/new-entry.ts";

/** `noUndo` completes "cannot be undone: …". */
export type Undo = { readonly undo: string } | { readonly noUndo: string };

export function removeLine(name: string, scope: ScopeWord, globals: Globals): string {
  return `fairlead mcp remove ${placeWords(globals)}-s ${scope} ${toShellWord(name)}`;
}

export interface Before {
  readonly name: string;
  /** The value as it was in the file. */
  readonly entry: unknown;
  /** Whether the entry was approved; if not, the undo command adds `--no-approve`. */
  readonly approved: boolean;
}

/** Builds the command that restores an entry. It contains literal secrets of the entry, so then it is shown on a terminal only, never in a log. */
export function restore(
  { name, entry, approved }: Before,
  { scope, word }: Pick<Destination, "scope" | "word">,
  { io, globals }: Pick<Context, "io" | "globals">,
): Undo {
  if (!isObject(entry)) return { noUndo: "the previous value was not an object" };
  const refusal = whyRefused(name, entry, scope);
  if (refusal !== undefined) return { noUndo: `fairlead mcp add would refuse the entry as it was: ${refusal}` };
  const isForEyes = (globals.json ? io.stdout : io.stderr).isTTY === true;
  if (holdsSecret(entry) && !isForEyes)
    return { noUndo: "the entry had literal values that may be secrets, and the output is not a terminal" };
  const options = `${placeWords(globals)}--replace ${scope === "workspace" && !approved ? "--no-approve " : ""}-s ${word}`;
  const undo = `fairlead mcp add ${options} ${toShellWord(name)} ${toShellWord(toSafeJson(entry, 0))}`;
  return toSafeLine(undo) === undo ? { undo } : { noUndo: "the entry has characters that cannot be typed" };
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

/** Repeats `-C` and `--settings` for a suggested command, each followed by a space. */
export function placeWords({ root, settings }: Globals): string {
  const words = [
    root === undefined ? "" : `-C ${toShellWord(root)} `,
    settings === undefined ? "" : `--settings ${toShellWord(settings)} `,
  ];
  return words.join("");
}
