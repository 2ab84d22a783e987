/** The completion list for the word at the cursor: its suggestions, their order, and its keys. */

import { hasUnseen } from "@fairlead/core/plain-text";
import { type Editor, withText } from "./editor.ts";
import type { Key } from "./keys.ts";

/** One suggestion. Its texts may come from a server and are not yet safe to print. */
export interface CompletionItem {
  readonly value: string;
  /** The text shown in the list instead of `value`. */
  readonly label?: string;
  readonly about?: string;
  /** Whether the word is not complete yet, such as the name of a folder. Then no space is inserted after it. */
  readonly isOpen?: boolean;
}

/** The open completion list. The selected suggestion replaces the text from `from` to `to`. */
export interface CompletionList {
  /** Index in the prompt's text at which the completed word begins. */
  readonly from: number;
  readonly to: number;
  /** The suggestions. The list is never empty. */
  readonly suggestions: readonly CompletionItem[];
  readonly selected: number;
  /** Whether Enter inserts the selected suggestion. If false, Enter sends the prompt. */
  readonly isChosen: boolean;
}

/** What a key does: move the selection, insert a suggestion, or close the list. */
export type CompletionStep =
  | { readonly kind: "move"; readonly completion: CompletionList }
  | { readonly kind: "take"; readonly suggestion: CompletionItem }
  | { readonly kind: "close" };

/** Returns what a key does in the list, or undefined if the list does not use the key. */
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

/** Replaces the typed word by the suggestion. Adds a space unless `isOpen` is set or a space follows. */
export function take(editor: Editor, { from, to }: CompletionList, { value, isOpen = false }: CompletionItem): Editor {
  const rest = editor.text.slice(to);
  const gap = isOpen || /^\s/.test(rest) ? "" : " ";
  const before = `${editor.text.slice(0, from)}${value}${gap}`;
  return withText(editor, before + rest, before.length);
}

/** Suggestions for the text from `from` to `to`, before the list is opened. */
export interface CompletionOffer {
  readonly from: number;
  readonly to: number;
  readonly suggestions: readonly CompletionItem[];
  /** Whether the typed text cannot be sent as it is (such as `/hel`). Enter then inserts the first suggestion. */
  readonly isUnfinished?: boolean;
}

const mostSuggestions = 50;

/** Creates a completion list. Returns undefined if there is no suggestion other than the typed text. */
export function openCompletion(text: string, completionOffer: CompletionOffer): CompletionList | undefined {
  const { from, to, isUnfinished = false } = completionOffer;
  // A server chooses these names. A name with invisible characters could deceive the user.
  const suggestions = completionOffer.suggestions.filter(({ value }) => !hasUnseen(value)).slice(0, mostSuggestions);
  const typed = text.slice(from, to);
  if (suggestions.every(({ value }) => value === typed)) return undefined;
  return { from, to, suggestions, selected: 0, isChosen: isUnfinished };
}

/** Adds suggestions for the same word and keeps the selection. Creates the list if `completion` is undefined. */
export function extend(
  completion: CompletionList | undefined,
  text: string,
  completionOffer: CompletionOffer,
): CompletionList | undefined {
  const shownItems = completion?.suggestions ?? [];
  const isNew = ({ value }: CompletionItem): boolean => shownItems.every((each) => each.value !== value);
  const next = openCompletion(text, {
    ...completionOffer,
    suggestions: [...shownItems, ...completionOffer.suggestions.filter(isNew)],
  });
  if (next === undefined || completion === undefined) return next;
  return { ...next, selected: completion.selected, isChosen: completion.isChosen };
}

/** Longer suggestions are compared only up to this many characters. */
const longestText = 300;
const mostStarts = 20;

/** Returns how well `text` matches the typed text: a higher score is better. Returns undefined if it does not match. */
export function fuzzyScore(typed: string, text: string): number | undefined {
  const letters = typed.toLowerCase();
  if (letters === "") return 0;
  const within = text.slice(0, longestText);
  const lower = within.toLowerCase();
  let best: number | undefined;
  let start = lower.indexOf(letters.charAt(0));
  for (let tries = 0; start !== -1 && tries < mostStarts; tries += 1) {
    const score = scoreFrom(letters, within, lower, start);
    if (score === undefined) break;
    if (best === undefined || score > best) best = score;
    start = lower.indexOf(letters.charAt(0), start + 1);
  }
  return best;
}

function scoreFrom(letters: string, text: string, lower: string, start: number): number | undefined {
  let score = start === 0 ? 20 : 0;
  let last = start - 1;
  for (const letter of letters) {
    const at = lower.indexOf(letter, last + 1);
    if (at === -1) return undefined;
    if (at === last + 1) score += 5;
    if (beginsWord(text, at)) score += 8;
    score -= Math.min(3, at - last - 1);
    last = at;
  }
  return score - text.length / longestText;
}

function beginsWord(text: string, at: number): boolean {
  const [before, here] = [text.charAt(at - 1), text.charAt(at)];
  return at === 0 || /[\s/:._-]/.test(before) || (/[a-z]/.test(before) && /[A-Z]/.test(here));
}

/** Returns at most `most` items that match the typed text, best first. Items with equal scores keep their order. */
export function rank<T>(items: readonly T[], typed: string, textOf: (item: T) => string, most: number): readonly T[] {
  return items
    .flatMap((item) => {
      const score = fuzzyScore(typed, textOf(item));
      return score === undefined ? [] : [{ item, score }];
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ item }) => item);
}
