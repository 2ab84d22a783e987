/** Decides what a key does: answer a question, edit the prompt, or start an action of the session. */

import type { CallStatus } from "@fairlead/core/turn";
import type { AppEvent, AppState } from "../state/app-state.ts";
import { dialogKey, dialogRoom, takesText } from "../state/dialog.ts";
import { type QuestionAnswer, refusals, type UserQuestion } from "../state/questions.ts";
import { editKey } from "./edit-key.ts";
import { emptyEditor, wholeText } from "./editor.ts";
import { type HistorySearch, openSearch, searchKey } from "./history-search.ts";
import { isCtrl, type Key } from "./keys.ts";
import { pasteAtCursor } from "./paste-value.ts";

/** What the session must do after a key press. */
export type Action =
  | { readonly type: "submit"; readonly text: string }
  | { readonly type: "answer"; readonly question: UserQuestion; readonly answer: QuestionAnswer }
  | { readonly type: "cancel_calls" }
  | { readonly type: "cancel_turn" }
  | { readonly type: "redraw" }
  | { readonly type: "quit" };

/** What a key causes: events for the app's state, and an action of the session. */
export interface Routed {
  readonly events: readonly AppEvent[];
  readonly action?: Action;
}

const nothing: Routed = { events: [] };

/** Returns what a key does in this state. Changes nothing itself. */
export function routeKey(state: AppState, key: Key): Routed {
  if (state.isQuitting || key.name === "unknown") return nothing;
  const [question] = state.questions;
  if (question !== undefined && state.focus === "dialog" && state.dialog !== undefined) {
    if (isCtrl(key, "c")) return stop(state, true);
    // Several characters at once are typed or pasted text for the prompt. They must not answer a question.
    const isTyped = key.name === "paste" || (key.name === "text" && Array.from(key.text ?? "").length > 1);
    if (isTyped && !takesText(state.dialog)) return withEvents(edit(state, key), { type: "focus", focus: "input" });
    const step = dialogKey(question, state.dialog, key, dialogRoom(state.size));
    if ("answer" in step) return { events: [], action: answerOf(question, step.answer) };
    return { events: [{ type: "dialog", dialog: step.dialog }] };
  }
  if (question !== undefined && state.focus === "input" && key.name === "tab")
    return { events: [{ type: "focus", focus: "dialog" }] };
  if (state.search !== undefined) return inSearch(state, state.search, key);
  if (isCtrl(key, "r"))
    return {
      events: [{ type: "search", search: openSearch(state.editor, state.history.entries), editor: state.editor }],
    };
  if (isCtrl(key, "c") || key.name === "escape") return stop(state, isCtrl(key, "c"));
  if (isCtrl(key, "d") && state.editor.text === "") return endOfInput(state);
  if (isCtrl(key, "l")) return { events: [], action: { type: "redraw" } };
  if (isCtrl(key, "o")) return { events: [{ type: "fold" }] };
  if (key.name === "enter" && !key.meta && !key.shift) return enter(state);
  return edit(state, key);
}

/** A key that is none of the search takes the found entry into the prompt, and then works as usual. */
function inSearch(state: AppState, search: HistorySearch, key: Key): Routed {
  const step = searchKey(search, state.editor, state.history.entries, key);
  if (step.kind === "search") return { events: [{ type: "search", search: step.search, editor: step.editor }] };
  const taken: AppEvent = { type: "edit", editor: step.editor };
  if (step.key === undefined) return { events: [taken] };
  const { events, ...routed } = routeKey({ ...state, search: undefined, editor: step.editor }, step.key);
  return { ...routed, events: [taken, ...events] };
}

/**
 * Handles Esc and Ctrl-C. Does the first of these that applies: refuse the question, stop the running calls, stop the
 * turn, clear the prompt. If none applies, the second Ctrl-C quits the app.
 */
function stop(state: AppState, canQuit: boolean): Routed {
  const { turn, items, editor, isQuitArmed } = state;
  const [question] = state.questions;
  // Esc must not refuse a question that the user has not seen yet.
  if (question !== undefined && state.focus !== "unseen")
    return { events: [], action: answerOf(question, refusals[question.kind]) };
  if (turn.kind === "running" && !turn.isCancelling) {
    const hasCall = items.some((item) => item.kind === "call" && isRunning(item.call.status));
    return { events: [], action: { type: hasCall ? "cancel_calls" : "cancel_turn" } };
  }
  if (editor.text !== "") return { events: [{ type: "edit", editor: { ...emptyEditor, cut: editor.text } }] };
  if (!canQuit) return { events: [{ type: "arm_quit", isArmed: false }] };
  return isQuitArmed ? { events: [], action: { type: "quit" } } : { events: [{ type: "arm_quit", isArmed: true }] };
}

/**
 * Handles Ctrl-D on an empty prompt: quits, as a shell does. While a turn runs or a question is open, Ctrl-D must be
 * pressed twice.
 */
function endOfInput({ turn, questions, isQuitArmed }: AppState): Routed {
  const isIdle = turn.kind === "idle" && questions.length === 0;
  return isIdle || isQuitArmed
    ? { events: [], action: { type: "quit" } }
    : { events: [{ type: "arm_quit", isArmed: true }] };
}

function isRunning(status: CallStatus): boolean {
  return status === "queued" || status === "running";
}

function enter(state: AppState): Routed {
  const { editor } = state;
  if (editor.text.endsWith("\\") && editor.cursor === editor.text.length) {
    const text = `${editor.text.slice(0, -1)}\n`;
    return { events: [{ type: "edit", editor: { ...editor, text, cursor: text.length } }] };
  }
  const text = wholeText(editor).trim();
  if (text === "") return nothing;
  return { events: [{ type: "entered", text }], action: { type: "submit", text } };
}

function edit(state: AppState, key: Key): Routed {
  if (key.name === "paste") {
    const editor = pasteAtCursor(state.editor, key.text ?? "", state.model.provider === "manual");
    return { events: [{ type: "edit", editor }] };
  }
  const edited = editKey(state.editor, state.history, key);
  return edited === undefined ? nothing : { events: [{ type: "edit", ...edited }] };
}

function withEvents({ events, ...routed }: Routed, ...more: readonly AppEvent[]): Routed {
  return { ...routed, events: [...events, ...more] };
}

function answerOf(question: UserQuestion, answer: QuestionAnswer): Action {
  return { type: "answer", question, answer };
}
