/** Distributes the rows of the screen below the finished items. The sum stays below the last row, or the terminal would scroll. Pure. */

import type { AppState } from "./app-state.ts";

export interface LiveRoom {
  readonly width: number;
  /** Most rows of the prompt. */
  readonly prompt: number;
  /** Rows of each item that may still change. */
  readonly item: number;
  /** How many of the first items have no room. */
  readonly hidden: number;
  /** How many queued messages are shown. */
  readonly waiting: number;
}

const mostPrompt = 10;
const mostWaiting = 3;
const leastItem = 3;

/** `dialog`: the rows of the question. */
export function liveRoom({ size, turn, items, settled, waiting, editor }: AppState, dialog: number): LiveRoom {
  const width = Math.max(20, size.columns);
  const shownWaiting = Math.min(waiting.length, mostWaiting);
  const prompt = Math.max(1, Math.min(mostPrompt, Math.floor(size.rows / 3)));
  const promptRows = Math.min(
    prompt + 2,
    Math.ceil((editor.text.length + 1) / (width - 2)) + editor.text.split("\n").length,
  );
  // The status line and the free row, the line of the turn, and the rest.
  const others = 2 + (turn.kind === "running" ? 1 : 0) + shownWaiting + promptRows + dialog;
  const room = Math.max(leastItem, size.rows - others);
  const live = items.length - settled;
  const shown = Math.min(live, Math.max(1, Math.floor(room / leastItem)));
  return {
    width,
    prompt,
    item: Math.floor(room / Math.max(1, shown)),
    hidden: live - shown,
    waiting: shownWaiting,
  };
}
