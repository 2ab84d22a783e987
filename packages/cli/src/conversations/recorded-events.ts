/** Converts a recorded conversation to app events, with which the app shows the conversation again. Pure functions. */

import type { RecordedConversation, RecordedEvent, RecordedLine } from "@fairlead/core/conversations";
import { HostError } from "@fairlead/core/errors";
import type { TurnEvent } from "@fairlead/core/turn";
import type { AppEvent, AppState, Size } from "../tui/state/app-state.ts";
import { initialState, reduce } from "../tui/state/reduce.ts";

/** An event of the app, and when it happened, in milliseconds since 1970. */
export interface TimedEvent {
  readonly at: number;
  readonly event: AppEvent;
}

/** Yields the recorded events in order, and ends each turn that has no recorded end. */
export function* appEvents({ head, lines }: RecordedConversation): Generator<TimedEvent, void, undefined> {
  let last = Date.parse(head.time) || 0;
  let isRunning = false;
  for (const line of lines) {
    // If a line's time is invalid or earlier than the time of the line before, the time of the line before is used.
    last = Math.max(last, Date.parse(line.time) || 0);
    if (line.type === "input") {
      if (isRunning) yield interruption(last);
      isRunning = true;
    }
    if (line.type === "done" || line.type === "error") isRunning = false;
    const event = appEvent(line, last);
    if (event !== undefined) yield { at: last, event };
  }
  if (isRunning) yield interruption(last);
}

/** Returns an event that ends a turn. Needed if the process was killed before it recorded the end of the turn. */
function interruption(at: number): TimedEvent {
  const error = new HostError("cancelled", "This turn was interrupted.");
  return { at, event: { type: "turn", event: { type: "error", error }, now: at } };
}

function appEvent(line: RecordedLine, now: number): AppEvent | undefined {
  switch (line.type) {
    case "input":
      return { type: "sent", text: line.text, attachments: [], now };
    case "model":
      return { type: "model", model: { provider: line.provider, name: line.name } };
    case "compact":
      return {
        type: "note",
        tone: "info",
        text: "The conversation was compacted: the model has a summary of the earlier messages.",
      };
    case "content":
    case "response":
    case "rewind":
    case "result":
    case "skill":
    case "names":
    case "offered":
    case "tool":
    case "title":
    case "approval":
    case "resumed":
      return undefined;
    case "text":
    case "thought":
    case "call":
    case "progress":
    case "quarantined":
    case "waiting":
    case "missing":
    case "note":
    case "retry":
    case "usage":
    case "done":
    case "error":
      return { type: "turn", event: toTurnEvent(line), now };
  }
}

/** Returns the event as the turn emitted it, without its recorded time. */
export function toTurnEvent({ time: _time, ...event }: RecordedEvent & { readonly time: string }): TurnEvent {
  if (event.type !== "error") return event as TurnEvent;
  const { code, message, next } = event.error;
  return { type: "error", error: new HostError(code, message, { next }) };
}

/** Whether the recorded line is an event of a turn, such as a part of the model's answer. */
export function isTurnEvent(line: RecordedLine): line is RecordedEvent & { readonly time: string } {
  return appEvent(line, 0)?.type === "turn";
}

/** Returns the app's state before the first event. */
export function stateBefore({ head }: RecordedConversation, size: Size): AppState {
  return initialState(head.model, [], size);
}

/** Returns the app's state after the last event. */
export function stateAfter(recorded: RecordedConversation, size: Size): AppState {
  let state = stateBefore(recorded, size);
  for (const { event } of appEvents(recorded)) state = reduce(state, event);
  return state;
}
