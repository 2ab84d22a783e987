/** Adds items to the transcript and counts those that are complete. Pure. */

import type { AppState, Size } from "./app-state.ts";
import { isSettled, type TranscriptItem } from "./transcript.ts";

type New<T> = T extends TranscriptItem ? Omit<T, "key"> : never;

export function add(state: AppState, item: New<TranscriptItem>): AppState {
  const serial = state.serial + 1;
  return { ...state, serial, items: [...state.items, { ...item, key: `item-${serial}` }] };
}

/** Counts the complete items at the top: they are drawn only once. */
export function markSettled(state: AppState): AppState {
  const open = state.items.findIndex((item, at) => at >= state.settled && !isSettled(item));
  const settled = open === -1 ? state.items.length : open;
  return settled === state.settled ? state : { ...state, settled };
}

/** An estimate of the rows of an item. */
export function rowsOf(item: TranscriptItem | undefined, { columns }: Size): number {
  const text = item === undefined ? "" : item.kind === "call" ? (item.call.isOpen ? item.call.display : "") : item.text;
  return (text ?? "").split("\n").reduce((rows, line) => rows + Math.ceil((line.length + 1) / columns), 1);
}
