/** What is offered for the word at the cursor, and what a key does to the list of it. Pure. */

import { hasUnseen } from "@fairlead/core/text/unseen";
import { type Editor, withText } from "./editor.ts";
import type { Key } from "./keys.ts";

/** Texts may be servers' own: raw. */
export interface CompletionItem {
  /** What stands in the text once it is taken. */
  readonly value: string;
  /** Shown instead of it. */
  readonly label?: string;
  readonly about?: string;
  /** The word goes on: no space follows. */
  readonly isOpen?: boolean;
}

export interface CompletionList {
  /** The part of the text that a suggestion takes the place of. */
  readonly from: number;
  readonly to: number;
  /** At least one. */
  readonly suggestions: readonly CompletionItem[];
  readonly selected: number;
  /** Whether Enter takes what is selected: the person has chosen, or what is typed means nothing yet. */
  readonly isChosen: boolean;
}

export type CompletionStep =
  | { readonly kind: "move"; readonly completion: CompletionList }
  | { readonly kind: "take"; readonly suggestion: CompletionItem }
  | { readonly kind: "close" };

/** Undefined for a key that is not for the list. */
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
  /** What is typed there so far means nothing. */
  readonly isUnfinished?: boolean;
}

const mostSuggestions = 50;

/** Undefined where there is nothing to offer but what is typed already. */
export function openCompletion(text: string, offer: CompletionOffer): CompletionList | undefined {
  const { from, to, isUnfinished = false } = offer;
  // Names are servers' own: what cannot be seen in one, nobody could have meant to type.
  const suggestions = offer.suggestions.filter(({ value }) => !hasUnseen(value)).slice(0, mostSuggestions);
  const typed = text.slice(from, to);
  if (suggestions.every(({ value }) => value === typed)) return undefined;
  return { from, to, suggestions, selected: 0, isChosen: isUnfinished };
}

/** More has become known about the same word: what was selected stays so. */
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
