/** Applies events to the app's state. */

import type { HostEvent, ServerState } from "@fairlead/core/events";
import { emptyEditor } from "../input/editor.ts";
import { addEntry, createHistory } from "../input/history.ts";
import { type AppEvent, type AppState, add, type ModelLine, markSettled, rowsOf, type Size } from "./app-state.ts";
import { openDialog } from "./dialog.ts";
import type { UserQuestion } from "./questions.ts";
import { reduceTurn } from "./reduce-turn.ts";
import type { NoteTone } from "./transcript.ts";

/** Returns the state before any event: an empty transcript and an empty prompt. */
export function initialState(model: ModelLine, servers: readonly ServerState[], size: Size): AppState {
  return {
    items: [],
    settled: 0,
    epoch: 0,
    drawnFrom: 0,
    turn: { kind: "idle" },
    questions: [],
    focus: "input",
    editor: emptyEditor,
    history: createHistory([]),
    waiting: [],
    servers,
    model,
    usage: { inputTokens: 0, outputTokens: 0 },
    context: undefined,
    isQuitArmed: false,
    isQuitting: false,
    size,
    serial: 0,
  };
}

/** Returns the state after an event. Returns the same object for an event that the app ignores. */
export function reduce(state: AppState, event: AppEvent): AppState {
  switch (event.type) {
    case "turn":
      return markSettled(reduceTurn(state, event.event, event.now));
    case "host":
      return reduceHost(state, event.event);
    case "servers":
      return { ...state, servers: event.servers };
    case "sent": {
      const { text, attachments, now } = event;
      const turn = { kind: "running", startedAt: now, isCancelling: false } as const;
      return markSettled({ ...add(state, { kind: "person", text, attachments }), turn });
    }
    case "cancelling":
      return state.turn.kind === "idle" ? state : { ...state, turn: { ...state.turn, isCancelling: true } };
    case "note": {
      const { tone, text, next } = event;
      return withNote(state, tone, text, next);
    }
    case "output":
      return markSettled(add(state, { kind: "output", title: event.title, text: event.text }));
    case "ask":
      return ask(state, event.question);
    case "ask_again": {
      const { question } = event;
      return { ...state, questions: state.questions.map((each) => (each.key === question.key ? question : each)) };
    }
    case "asked":
      return forget(state, event.key);
    case "drawn":
      return drawn(state, event.key);
    case "focus":
      return state.questions.length === 0 || state.focus === "unseen" ? state : { ...state, focus: event.focus };
    case "dialog":
      return state.dialog?.key === event.dialog.key ? { ...state, dialog: event.dialog } : state;
    case "edit": {
      const { editor, history = state.history } = event;
      return { ...state, search: undefined, completion: undefined, editor, history, isQuitArmed: false };
    }
    case "search":
      return { ...state, completion: undefined, search: event.search, editor: event.editor, isQuitArmed: false };
    case "completion":
      return { ...state, completion: event.completion };
    case "panel":
      return { ...state, panel: event.panel };
    case "entered": {
      const history = addEntry(state.history, event.text);
      return { ...state, search: undefined, completion: undefined, editor: emptyEditor, history, isQuitArmed: false };
    }
    case "history":
      return { ...state, search: undefined, history: createHistory([...event.entries, ...state.history.entries]) };
    case "wait":
      return { ...state, waiting: [...state.waiting, event.text] };
    case "waited":
      return { ...state, waiting: state.waiting.slice(event.count) };
    case "fold":
      return fold(state, event.id);
    case "model":
      return { ...state, model: event.model };
    case "resize":
      return redraw({ ...state, size: event.size });
    case "arm_quit":
      return { ...state, isQuitArmed: event.isArmed };
    case "clear":
      return {
        ...state,
        items: state.items.slice(state.settled),
        settled: 0,
        drawnFrom: 0,
        epoch: state.epoch + 1,
        usage: { inputTokens: 0, outputTokens: 0 },
        context: undefined,
      };
    case "context":
      return { ...state, context: event.tokens };
    case "quit":
      return { ...state, isQuitting: true };
  }
}

function withNote(state: AppState, tone: NoteTone, text: string, next?: string): AppState {
  return markSettled(add(state, { kind: "note", tone, text, next }));
}

function reduceHost(state: AppState, event: HostEvent): AppState {
  switch (event.type) {
    case "state": {
      const { servers } = state;
      const at = servers.findIndex(({ name }) => name === event.state.name);
      const next = { ...state, servers: at === -1 ? [...servers, event.state] : servers.with(at, event.state) };
      return servers[at]?.status === "connected" ? tellLoss(next, event.state) : next;
    }
    case "history_failed":
      return withNote(state, "warning", `the history cannot be written: ${event.message}`);
    case "conversation_not_recorded":
      return withNote(state, "warning", `the conversation is no longer recorded: ${event.message}`);
    case "refresh_failed": {
      const { server, list, error } = event;
      const text = `"${server}" reported changed ${list}, but they could not be read: ${error.message}`;
      return withNote(state, "warning", text);
    }
    case "catalog": {
      const { changed } = event.tools;
      // The user should know about changed tools, because the user may have allowed them before the change.
      if (changed.length === 0) return state;
      return withNote(state, "info", `"${event.server}" changed the definitions of these tools: ${changed.join(", ")}`);
    }
    case "ide_trust_changed":
      return withNote(state, "info", `The folder is ${event.trusted ? "" : "not "}trusted now: ${event.detail}`);
    case "settings_unread":
      return withNote(state, "warning", event.message, event.next);
    case "settings_changed":
    case "discovery":
    case "servers":
    case "fetching":
    case "stderr":
    case "list_changed":
    case "log":
    case "resource_updated":
      return state;
  }
}

/** Tells the user about a lost connection, because it explains why running calls fail. */
function tellLoss(state: AppState, server: ServerState): AppState {
  if (server.status !== "disconnecting" || server.because === undefined) return state;
  const { message, next } = server.because;
  return withNote(state, "warning", message, next);
}

function ask(state: AppState, question: UserQuestion): AppState {
  const next = { ...state, questions: [...state.questions, question], isQuitArmed: false };
  return state.questions.length === 0 ? { ...next, focus: "unseen", dialog: openDialog(question) } : next;
}

function forget(state: AppState, key: string): AppState {
  const questions = state.questions.filter((each) => each.key !== key);
  const [first] = questions;
  if (first?.key === state.questions[0]?.key) return { ...state, questions };
  const { dialog: _answered, ...rest } = state;
  if (first === undefined) return { ...rest, questions, focus: "input" };
  return { ...rest, questions, focus: "unseen", dialog: openDialog(first) };
}

function drawn(state: AppState, key: string): AppState {
  if (state.focus !== "unseen" || state.questions[0]?.key !== key) return state;
  const isFree = state.editor.text === "" && state.panel === undefined;
  return { ...state, focus: isFree ? "dialog" : "input" };
}

function fold(state: AppState, id: string | undefined): AppState {
  const at = state.items.findLastIndex((item) => item.kind === "call" && (id === undefined || item.call.id === id));
  const item = state.items[at];
  if (item?.kind !== "call") return state;
  const call = { ...item.call, isOpen: !item.call.isOpen };
  const items = state.items.with(at, { ...item, call });
  return at < state.settled ? redraw({ ...state, items }, at) : { ...state, items };
}

/**
 * Draws the items on the screen again, and all items from index `from`. The terminal's scrollback cannot be drawn
 * again.
 */
function redraw(state: AppState, from: number = state.settled): AppState {
  const { items, settled, size } = state;
  let drawnFrom = settled;
  for (let rows = 0; drawnFrom > 0 && rows < size.rows; drawnFrom--) rows += rowsOf(items[drawnFrom - 1], size);
  return { ...state, drawnFrom: Math.min(drawnFrom, from), epoch: state.epoch + 1 };
}
