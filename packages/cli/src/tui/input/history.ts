/** The history of entered lines. One file, readable only by this user, keeps the lines of all folders. */

import { join } from "node:path";
import { looksSecret } from "@fairlead/console/server/words/server-redaction";
import { readState, updateState } from "@fairlead/core/files";

/** The entered lines, and which of them the prompt shows. */
export interface InputHistory {
  /** The entered lines, oldest first. */
  readonly entries: readonly string[];
  /** Index of the shown entry. It is `entries.length` if no entry is shown. */
  readonly at: number;
  /** The text that the user had typed before moving through the history. */
  readonly draft: string;
}

/** The history after a move, and the text that the prompt then shows. */
export interface HistoryStep {
  readonly history: InputHistory;
  readonly text: string;
}

const mostEntries = 1000;

/** Returns a history that shows no entry. Keeps the last 1000 entries. */
export function createHistory(entries: readonly string[]): InputHistory {
  const kept = entries.slice(-mostEntries);
  return { entries: kept, at: kept.length, draft: "" };
}

/** Adds an entry, unless it equals the last entry. */
export function addEntry({ entries }: InputHistory, text: string): InputHistory {
  return createHistory(entries.at(-1) === text ? entries : [...entries, text]);
}

/**
 * Moves to the previous entry. Returns undefined if there is none. Keeps `current`, the text in the prompt, as the
 * draft.
 */
export function older(history: InputHistory, current: string): HistoryStep | undefined {
  const { entries, at } = history;
  const text = entries[at - 1];
  if (text === undefined) return undefined;
  const draft = at === entries.length ? current : history.draft;
  return { history: { entries, at: at - 1, draft }, text };
}

/** Moves to the next entry, or back to the draft. Returns undefined if no entry is shown. */
export function newer({ entries, at, draft }: InputHistory): HistoryStep | undefined {
  if (at >= entries.length) return undefined;
  return { history: { entries, at: at + 1, draft }, text: entries[at + 1] ?? draft };
}

/** Maximum length of a saved entry, in characters. */
const longestEntry = 16_384;

/**
 * Matches commands that may contain a password or token: `/secret`, and `/mcp add` with options such as `--env`, `--input` or
 * `--header`.
 */
const secretLine =
  /^\s*\/(?:secret(?:\s|$)|mcp\s+(?:add|update)(?:\s|\s.*\s)["']?-(?:[eH]|-env|-header|-input|-[a-z-]*secret))/s;

/** Matches an argument: `name=value`, or `"name": "value"` in JSON. */
const argument = /([\w.-]+)["']?\s*[=:]\s*(?:"([^"]*)"|'([^']*)'|([^\s"',)}]+))/g;

function mayHoldSecret(text: string): boolean {
  if (secretLine.test(text)) return true;
  const values = [...text.matchAll(argument)].map(([, name = "", ...forms]) => ({ name, value: forms.join("") }));
  return values.some(({ name, value }) => looksSecret(name, value));
}

/** Reads the saved lines, oldest first. Returns undefined if there is no file. */
export function loadHistory(folder: string): Promise<readonly string[] | undefined> {
  return readState(fileIn(folder), readEntries);
}

/** Saves the entry, unless it is too long or may contain a secret. */
export async function saveEntry(folder: string, text: string): Promise<void> {
  if (text.length > longestEntry || mayHoldSecret(text)) return;
  await updateState(fileIn(folder), readEntries, (entries = []) => addEntry(createHistory(entries), text).entries);
}

function fileIn(folder: string): string {
  return join(folder, "history.json");
}

function readEntries(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : undefined;
}
