/** Replays a recorded conversation event by event, with or without its pauses. */

import { type Clock, sleep } from "@fairlead/core/clock";
import type { RecordedConversation } from "@fairlead/core/conversations";
import type { Output } from "../output/output.ts";
import { itemText } from "../tui/plain/plain-text.ts";
import type { AppEvent } from "../tui/state/app-state.ts";
import { reduce } from "../tui/state/reduce.ts";
import { appEvents, stateBefore } from "./recorded-events.ts";

/** Longest pause, in milliseconds. Longer pauses are shortened, because they only show that the user was thinking. */
const longestPause = 2000;

/** How fast to replay, and the signal that stops the replay. */
export interface PlayOptions {
  /** Speed factor: 2 means twice as fast as recorded. Undefined means without pauses. */
  readonly speed?: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Passes each event to `show`, after the pause that was recorded before this event. Rejects when the signal aborts. */
export async function play(
  recorded: RecordedConversation,
  { speed, clock, signal }: PlayOptions,
  show: (event: AppEvent) => void | Promise<void>,
): Promise<void> {
  let before: number | undefined;
  for (const { at, event } of appEvents(recorded)) {
    signal.throwIfAborted();
    const pause = Math.min(at - (before ?? at), longestPause);
    if (speed !== undefined && pause > 0) await sleep(clock, pause / speed, signal);
    before = at;
    await show(event);
  }
}

/** Options for printing the replay. `columns` is the width of the output. */
export interface PlayLinesOptions extends PlayOptions {
  readonly out: Pick<Output, "print">;
  readonly columns: number;
}

/** Prints each item of the transcript once, when it is complete. */
export async function playLines(
  recorded: RecordedConversation,
  { out, columns, ...how }: PlayLinesOptions,
): Promise<void> {
  let state = stateBefore(recorded, { columns, rows: 1_000_000 });
  let printed = 0;
  await play(recorded, how, (event) => {
    state = reduce(state, event);
    for (const item of state.items.slice(printed, state.settled)) out.print(itemText(item, columns));
    printed = state.settled;
  });
  for (const item of state.items.slice(printed)) out.print(itemText(item, columns));
}
