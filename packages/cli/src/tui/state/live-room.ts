/** How the rows of the screen are shared out below what has scrolled up. Pure: the sum never reaches the last row, or the terminal would scroll. */

import type { AppState } from "./app-state.ts";

export interface LiveRoom {
  readonly width: number;
  /** Of the prompt, at the most. */
  readonly prompt: number;
  /** Of each item that changes. */
  readonly item: number;
  /** Items for which there is no room, from the first on. */
  readonly hidden: number;
  /** Of what was typed ahead, so many. */
  readonly waiting: number;
}

const mostPrompt = 10;
const mostWaiting = 3;
const leastItem = 3;

/** `dialog`: rows that the question takes. */
export function liveRoom({ size, turn, items, settled, waiting, editor }: AppState, dialog: number): LiveRoom {
  const width = Math.max(20, size.columns);
  const shownWaiting = Math.min(waiting.length, mostWaiting);
  const prompt = Math.max(1, Math.min(mostPrompt, Math.floor(size.rows / 3)));
  const promptRows = Math.min(
    prompt + 2,
    Math.ceil((editor.text.length + 1) / (width - 2)) + editor.text.split("\n").length,
  );
  // The status line, what is going on, and the row that stays free.
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
