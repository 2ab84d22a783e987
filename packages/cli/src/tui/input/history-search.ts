/** Ctrl-R: searches the entered lines while the user types, newest first, as a shell does. Pure functions. */

import { type Editor, paste, withText } from "./editor.ts";
import { isCtrl, type Key, letterOf } from "./keys.ts";

/** An open search. The prompt shows the entry that was found. */
export interface HistorySearch {
  readonly query: string;
  /** Index of the entry in the prompt. `entries.length` if none was found yet. */
  readonly at: number;
  /** Whether an entry contains the query. If not, the prompt still shows the entry that was found before. */
  readonly isFound: boolean;
  /** The prompt as it was before the search. */
  readonly before: Editor;
}

/**
 * What a key does in a search. `search`: it goes on, with this text in the prompt. `leave`: it ends, and the prompt has
 * this text; `key` is still to be handled there.
 */
export type SearchStep =
  | { readonly kind: "search"; readonly search: HistorySearch; readonly editor: Editor }
  | { readonly kind: "leave"; readonly editor: Editor; readonly key?: Key };

/** Begins a search. The prompt keeps its text until the user has typed something. */
export function openSearch(editor: Editor, entries: readonly string[]): HistorySearch {
  return { query: "", at: entries.length, isFound: true, before: editor };
}

/** Returns what a key does in the open search. */
export function searchKey(search: HistorySearch, editor: Editor, entries: readonly string[], key: Key): SearchStep {
  const { query, at, before } = search;
  const shown = entries[at];
  if (key.name === "escape" || isCtrl(key, "c") || isCtrl(key, "g")) return { kind: "leave", editor: before };
  if (isCtrl(key, "r")) return found(search, editor, entries, query, (index) => index < at && entries[index] !== shown);
  if (key.name === "backspace" && key.ctrl !== true && key.meta !== true)
    return found(search, editor, entries, Array.from(query).slice(0, -1).join(""), () => true);
  if (letterOf(key) !== undefined || key.name === "paste")
    return found(search, editor, entries, `${query}${firstLine(key.text)}`, (index) => index <= at);
  return { kind: "leave", editor, key };
}

function found(
  search: HistorySearch,
  editor: Editor,
  entries: readonly string[],
  query: string,
  isWanted: (index: number) => boolean,
): SearchStep {
  // A query without capitals finds both cases.
  const fold = (text: string): string => (query === query.toLowerCase() ? text.toLowerCase() : text);
  const index = entries.findLastIndex((entry, at) => isWanted(at) && fold(entry).includes(query));
  const entry = entries[index];
  if (query === "")
    return { kind: "search", search: { ...search, query, at: entries.length, isFound: true }, editor: search.before };
  if (entry === undefined) return { kind: "search", search: { ...search, query, isFound: false }, editor };
  return {
    kind: "search",
    search: { ...search, query, at: index, isFound: true },
    // A long entry is shown as a label such as `[pasted 9 lines]`.
    editor: paste(withText(search.before, ""), entry),
  };
}

function firstLine(text = ""): string {
  return text.split("\n", 1)[0] ?? "";
}
