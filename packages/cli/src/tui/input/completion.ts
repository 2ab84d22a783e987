/** The completion list for the word at the cursor, and its keys. Pure. */

import { hasUnseen } from "@fairlead/core/text/unseen";
import { type Editor, withText } from "./editor.ts";
import type { Key } from "./keys.ts";

/** One suggestion. Its texts may come from a server and are not yet safe to print. */
export interface CompletionItem {
  /** The text that is inserted. */
  readonly value: string;
  /** Shown in the list instead of `value`. */
  readonly label?: string;
  readonly about?: string;
  /** The word continues: no space is inserted after it. */
  readonly isOpen?: boolean;
}

export interface CompletionList {
  /** Start of the part of the text that a suggestion replaces. */
  readonly from: number;
  readonly to: number;
  /** At least one. */
  readonly suggestions: readonly CompletionItem[];
  readonly selected: number;
  /** Whether Enter inserts the selection: the user has moved it, or the typed text is not complete. */
  readonly isChosen: boolean;
}

export type CompletionStep =
  | { readonly kind: "move"; readonly completion: CompletionList }
  | { readonly kind: "take"; readonly suggestion: CompletionItem }
  | { readonly kind: "close" };

/** Undefined for a key that the list does not use. */
export function completionKey(
  completion: CompletionList,
  { name, ctrl, meta, shift }: Key,
): CompletionStep | undefined {
  const { suggestions, selected, isChosen } = completion;
  const current = suggestions[selected];
  const move = (by: number): CompletionStep => ({
    kind: "move",
    completion: {
      ...completion,
      selected: (selected + by + suggestions.length) % suggestions.length,
      isChosen: true,
    },
  });
  if (ctrl === true || meta === true) return undefined;
  if (name === "up" || (name === "tab" && shift === true)) return move(-1);
  if (name === "down") return move(1);
  if (name === "escape") return { kind: "close" };
  const takes = name === "tab" || (name === "enter" && isChosen && shift !== true);
  return takes && current !== undefined ? { kind: "take", suggestion: current } : undefined;
}

export function take(editor: Editor, { from, to }: CompletionList, { value, isOpen = false }: CompletionItem): Editor {
  const rest = editor.text.slice(to);
  const gap = isOpen || /^\s/.test(rest) ? "" : " ";
  const before = `${editor.text.slice(0, from)}${value}${gap}`;
  return withText(editor, before + rest, before.length);
}

export interface CompletionOffer {
  readonly from: number;
  readonly to: number;
  readonly suggestions: readonly CompletionItem[];
  /** The typed text is not a complete word. */
  readonly isUnfinished?: boolean;
}

const mostSuggestions = 50;

/** Undefined if the only suggestion is the typed text itself. */
export function openCompletion(text: string, offer: CompletionOffer): CompletionList | undefined {
  const { from, to, isUnfinished = false } = offer;
  // Names come from servers: one with invisible characters is not suggested.
  const suggestions = offer.suggestions.filter(({ value }) => !hasUnseen(value)).slice(0, mostSuggestions);
  const typed = text.slice(from, to);
  if (suggestions.every(({ value }) => value === typed)) return undefined;
  return { from, to, suggestions, selected: 0, isChosen: isUnfinished };
}

/** Adds suggestions for the same word; the selection is kept. */
export function extend(
  completion: CompletionList | undefined,
  text: string,
  offer: CompletionOffer,
): CompletionList | undefined {
  const known = completion?.suggestions ?? [];
  const isNew = ({ value }: CompletionItem): boolean => known.every((each) => each.value !== value);
  const next = openCompletion(text, { ...offer, suggestions: [...known, ...offer.suggestions.filter(isNew)] });
  if (next === undefined || completion === undefined) return next;
  return { ...next, selected: completion.selected, isChosen: completion.isChosen };
}
