/** The history of entered lines: moving through it, and the private file that stores it for all folders. */

import { join } from "node:path";
import { readState, updateState } from "@fairlead/core/files/atomic/state-file";
import { looksSecret } from "../../output/servers/server-secrets.ts";

export interface InputHistory {
  /** Oldest first. */
  readonly entries: readonly string[];
  /** Index of the entry that is shown; `entries.length` if no entry is shown. */
  readonly at: number;
  /** The text in the prompt before an entry was shown. */
  readonly draft: string;
}

export interface HistoryStep {
  readonly history: InputHistory;
  readonly text: string;
}

const mostEntries = 1000;

export function createHistory(entries: readonly string[]): InputHistory {
  const kept = entries.slice(-mostEntries);
  return { entries: kept, at: kept.length, draft: "" };
}

/** Adds an entry; a repeated last entry is not added. */
export function addEntry({ entries }: InputHistory, text: string): InputHistory {
  return createHistory(entries.at(-1) === text ? entries : [...entries, text]);
}

/** Undefined if there is no older entry. */
export function older(history: InputHistory, current: string): HistoryStep | undefined {
  const { entries, at } = history;
  const text = entries[at - 1];
  if (text === undefined) return undefined;
  const draft = at === entries.length ? current : history.draft;
  return { history: { entries, at: at - 1, draft }, text };
}

export function newer({ entries, at, draft }: InputHistory): HistoryStep | undefined {
  if (at >= entries.length) return undefined;
  return { history: { entries, at: at + 1, draft }, text: entries[at + 1] ?? draft };
}

/** Longer entries are not saved. */
const longestEntry = 16_384;

/** Lines that may contain a password or token: `/secret`, and `/mcp add` with a variable, a header or a secret. */
const secretLine = /^\s*\/(?:secret(?:\s|$)|mcp\s+add(?:\s|\s.*\s)["']?-(?:[eH]|-env|-header|-[a-z-]*secret))/s;

/** An argument, as `name=value` or as a member of JSON, with its value in quotes or not. */
const argument = /([\w.-]+)["']?\s*[=:]\s*(?:"([^"]*)"|'([^']*)'|([^\s"',)}]+))/g;

function mayHoldSecret(text: string): boolean {
  if (secretLine.test(text)) return true;
  const values = [...text.matchAll(argument)].map(([, name = "", ...forms]) => ({ name, value: forms.join("") }));
  return values.some(({ name, value }) => looksSecret(name, value));
}

export function loadHistory(folder: string): Promise<readonly string[] | undefined> {
  return readState(fileIn(folder), readEntries);
}

/** Saves the entry if it is not too long and cannot contain a secret. */
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
