/** What was typed in earlier runs: one private file, the same for all folders. */

import { join } from "node:path";
import { readState, updateState } from "@fairlead/core/files/atomic/state-file";
import { addEntry, createHistory } from "./history.ts";

/** Longer entries are not saved. */
const longestEntry = 16_384;

export function loadHistory(folder: string): Promise<readonly string[] | undefined> {
  return readState(fileIn(folder), readEntries);
}

export async function saveEntry(folder: string, text: string): Promise<void> {
  if (text.length > longestEntry) return;
  await updateState(fileIn(folder), readEntries, (entries = []) => addEntry(createHistory(entries), text).entries);
}

function fileIn(folder: string): string {
  return join(folder, "history.json");
}

function readEntries(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? value : undefined;
}
