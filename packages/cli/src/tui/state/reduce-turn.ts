/** Applies the events of a turn to the app's state. */

import type { CallEvent, DoneReason, TurnEvent } from "@fairlead/core/turn";
import { type AppState, add } from "./app-state.ts";
import { isOver, type TranscriptItem, toCard } from "./transcript.ts";

/** Returns the state after an event of the running turn. `now`: milliseconds on the session's clock. */
export function reduceTurn(state: AppState, event: TurnEvent, now: number): AppState {
  switch (event.type) {
    case "text":
      return grow(doing(state, undefined), "answer", event.text);
    case "thought":
      return grow(doing(state, undefined), "thought", event.text);
    case "call":
      return withCall(endTexts(doing(state, undefined)), event, now);
    case "progress": {
      const { id, progress, total, message } = event;
      const shown = { progress, total, message };
      return changeCall(state, id, (item) => ({ ...item, call: { ...item.call, progress: shown } }));
    }
    // The app ignores this event, because the host asks the user through `confirm`.
    case "confirmation":
      return state;
    case "quarantined": {
      const { server, serverToolName, reason } = event;
      const text = `The model's API refuses ${server}.${serverToolName}: ${reason}. The conversation continues without this tool.`;
      return add(state, { kind: "note", tone: "warning", text });
    }
    case "waiting":
      return doing(state, `waiting for ${event.servers.join(", ")}`);
    case "missing":
      return event.servers.reduce(
        (next, { server, message, next: advice }) =>
          add(next, {
            kind: "note",
            tone: "warning",
            text: `continuing without "${server}": ${message}`,
            next: advice,
          }),
        state,
      );
    case "note":
      return add(state, { kind: "note", tone: "info", text: event.message });
    case "retry":
      return doing(state, `the model's API failed (${event.reason}); trying again (attempt ${event.attempt + 1})`);
    case "usage": {
      const { inputTokens, outputTokens } = state.usage;
      return {
        ...state,
        usage: { inputTokens: inputTokens + event.inputTokens, outputTokens: outputTokens + event.outputTokens },
      };
    }
    case "done": {
      const note = endWords[event.reason];
      const ended = end(state);
      return note === undefined ? ended : add(ended, { kind: "note", ...note });
    }
    case "error": {
      const { message, next, code } = event.error;
      const tone = code === "cancelled" ? "info" : "error";
      return add(end(state), { kind: "note", tone, text: message, next });
    }
  }
}

const endWords: Readonly<
  Record<DoneReason, { readonly tone: "info" | "warning"; readonly text: string; readonly next?: string } | undefined>
> = {
  stop: undefined,
  cancelled: { tone: "info", text: "Cancelled." },
  length: {
    tone: "warning",
    text: "The answer is incomplete: it reached the model's output limit.",
    next: "to continue, type: go on",
  },
  safety: { tone: "warning", text: "The model's API stopped the answer (safety filter)." },
  limit: {
    tone: "warning",
    text: "Stopped: this turn reached its maximum number of steps.",
    next: "to continue, type: go on",
  },
};

function doing(state: AppState, what: string | undefined): AppState {
  if (state.turn.kind === "idle" || state.turn.doing === what) return state;
  return { ...state, turn: { ...state.turn, doing: what } };
}

/** Appends text to the unfinished answer or thought, or starts one. Splits off finished paragraphs of an answer. */
function grow(state: AppState, kind: "answer" | "thought", text: string): AppState {
  const last = state.items.at(-1);
  if (last?.kind !== kind || last.isDone) return add(endTexts(state), { kind, text, isDone: false });
  const whole = last.text + text;
  const end = kind === "answer" ? finishedPart(whole) : 0;
  const at = state.items.length - 1;
  if (end === 0) return replaceAt(state, at, { ...last, text: whole });
  const ended = replaceAt(state, at, { ...last, text: whole.slice(0, end), isDone: true });
  return add(ended, { kind, text: whole.slice(end), isDone: false });
}

function endTexts(state: AppState): AppState {
  const isOpen = (item: TranscriptItem): boolean => "isDone" in item && !item.isDone;
  if (!state.items.some((item, at) => at >= state.settled && isOpen(item))) return state;
  return { ...state, items: state.items.map((item) => (isOpen(item) ? { ...item, isDone: true } : item)) };
}

function withCall(state: AppState, event: CallEvent, now: number): AppState {
  if (findCall(state, event.id) === -1) return add(state, { kind: "call", call: toCard(event, undefined, now) });
  return changeCall(state, event.id, (item) => ({ ...item, call: toCard(event, item.call, now) }));
}

/** Ends the turn. Calls that are not over yet count as cancelled. */
function end(state: AppState): AppState {
  const items = endTexts(state).items.map((item) =>
    item.kind === "call" && !isOver(item.call.status)
      ? { ...item, call: { ...item.call, status: "cancelled" as const } }
      : item,
  );
  return { ...state, items, turn: { kind: "idle" } };
}

type CallItem = Extract<TranscriptItem, { readonly kind: "call" }>;

function changeCall(state: AppState, id: string, change: (item: CallItem) => CallItem): AppState {
  const at = findCall(state, id);
  const item = state.items[at];
  return item?.kind === "call" ? replaceAt(state, at, change(item)) : state;
}

function findCall({ items }: AppState, id: string): number {
  return items.findLastIndex((item) => item.kind === "call" && item.call.id === id);
}

function replaceAt(state: AppState, at: number, item: TranscriptItem): AppState {
  return { ...state, items: state.items.with(at, item) };
}

/** Text with fewer characters is not split off. */
const least = 400;

/**
 * Returns the index after the last finished paragraph, or 0. A finished paragraph is drawn once, so later text must not
 * change it. Lists and code blocks stay whole.
 */
function finishedPart(text: string): number {
  if (text.length < least) return 0;
  let end = 0;
  let fence: string | undefined;
  let at = 0;
  for (const line of text.split("\n")) {
    const [, marker] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence === undefined) fence = marker;
    else if (marker?.startsWith(fence) === true) fence = undefined;
    at += line.length + 1;
    const isGap = line.trim() === "" && at < text.length;
    // Indented text and list items continue the block above.
    if (isGap && fence === undefined && /^(?!\d+[.)] |[-*+] )[^\s]/.test(text.slice(at, at + 8))) end = at;
  }
  return end >= least ? end : 0;
}
