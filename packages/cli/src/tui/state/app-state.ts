/** The state of the terminal app and its events: plain data, and pure functions on that data. */

import type { HostEvent, ServerState } from "@fairlead/core/events";
import type { ConversationTokens } from "@fairlead/core/turn/conversation";
import type { TurnEvent } from "@fairlead/core/turn/events";
import type { CompletionList } from "../input/completion.ts";
import type { Editor } from "../input/editor.ts";
import type { InputHistory } from "../input/history.ts";
import type { DialogState } from "./dialog.ts";
import type { PanelState } from "./mcp-panel.ts";
import type { QuestionNumber, UserQuestion } from "./questions.ts";
import { isSettled, type NoteTone, type TranscriptItem } from "./transcript.ts";

export interface AppState {
  /** The items of the transcript, in the order in which they started. */
  readonly items: readonly TranscriptItem[];
  /** Number of complete items at the start of `items`. */
  readonly settled: number;
  /** A counter. When it increases, the app draws the screen again. */
  readonly epoch: number;
  /** Index of the first item to draw again. Earlier items are in the terminal's scrollback. */
  readonly drawnFrom: number;
  readonly turn: TurnState;
  /** The open questions. The app shows the first question. */
  readonly questions: readonly UserQuestion[];
  /** Which part of the app receives keys while a question is open. */
  readonly focus: Focus;
  readonly dialog?: DialogState;
  readonly editor: Editor;
  readonly completion?: CompletionList;
  /** The `/mcp` panel. Absent while it is closed. It receives the keys, unless a question is open. */
  readonly panel?: PanelState;
  readonly history: InputHistory;
  /** Messages that the user entered during a turn. They are sent when the turn ends. */
  readonly waiting: readonly string[];
  readonly servers: readonly ServerState[];
  readonly model: ModelLine;
  readonly usage: Usage;
  /** Estimated tokens of the next request. Undefined before the first turn. */
  readonly context: ConversationTokens | undefined;
  /** Whether Ctrl-C was pressed on an empty prompt: the next Ctrl-C quits. */
  readonly isQuitArmed: boolean;
  readonly isQuitting: boolean;
  readonly size: Size;
  /** A counter that gives each transcript item a unique key. */
  readonly serial: number;
}

export type TurnState =
  | { readonly kind: "idle" }
  | {
      readonly kind: "running";
      readonly startedAt: number;
      /** What the turn waits for: servers, or the next attempt to reach the model's API. */
      readonly doing?: string;
      readonly isCancelling: boolean;
    };

/**
 * Where keys go while a question is open. `unseen`: to the prompt, because the user has not seen the question yet.
 * `dialog`: to the question. `input`: to the prompt or panel until the user presses Tab, so that typing is not
 * interrupted.
 */
type Focus = "input" | "unseen" | "dialog";

export interface ModelLine {
  readonly provider: "gemini" | "openai-compatible" | "manual" | "scripted";
  readonly name: string;
}

interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export type AppEvent =
  | { readonly type: "turn"; readonly event: TurnEvent; readonly now: number }
  | { readonly type: "host"; readonly event: HostEvent }
  | { readonly type: "servers"; readonly servers: readonly ServerState[] }
  | { readonly type: "sent"; readonly text: string; readonly attachments: readonly string[]; readonly now: number }
  | { readonly type: "cancelling" }
  | { readonly type: "note"; readonly tone: NoteTone; readonly text: string; readonly next?: string }
  | { readonly type: "output"; readonly title: string; readonly text: string }
  | { readonly type: "ask"; readonly question: UserQuestion }
  /** Replaces the question with the same key, for example to show a further message of a sign-in. */
  | { readonly type: "ask_again"; readonly question: UserQuestion }
  /** The question was answered or cancelled. */
  | { readonly type: "asked"; readonly key: string }
  /** A frame with this question was drawn, so the user can have seen it. */
  | { readonly type: "drawn"; readonly key: string }
  | { readonly type: "focus"; readonly focus: "input" | "dialog" }
  | { readonly type: "dialog"; readonly dialog: DialogState }
  | { readonly type: "edit"; readonly editor: Editor; readonly history?: InputHistory }
  /** Sets the completion list. Without `completion`, closes the list. */
  | { readonly type: "completion"; readonly completion?: CompletionList }
  | { readonly type: "panel"; readonly panel?: PanelState }
  | { readonly type: "entered"; readonly text: string }
  | { readonly type: "history"; readonly entries: readonly string[] }
  | { readonly type: "wait"; readonly text: string }
  /** The first `count` queued messages were sent. */
  | { readonly type: "waited"; readonly count: number }
  /** Expands or folds the result of the call with this id. Without an id, the result of the last call. */
  | { readonly type: "fold"; readonly id?: string }
  | { readonly type: "model"; readonly model: ModelLine }
  | { readonly type: "resize"; readonly size: Size }
  | { readonly type: "arm_quit"; readonly isArmed: boolean }
  | { readonly type: "clear" }
  | { readonly type: "context"; readonly tokens: ConversationTokens }
  | { readonly type: "quit" };

type New<T> = T extends TranscriptItem ? Omit<T, "key"> : never;

export function add(state: AppState, item: New<TranscriptItem>): AppState {
  const serial = state.serial + 1;
  return { ...state, serial, items: [...state.items, { ...item, key: `item-${serial}` }] };
}

/** Counts the complete items at the start of the transcript, which are drawn only once. */
export function markSettled(state: AppState): AppState {
  const open = state.items.findIndex((item, at) => at >= state.settled && !isSettled(item));
  const settled = open === -1 ? state.items.length : open;
  return settled === state.settled ? state : { ...state, settled };
}

/** Estimates the number of rows of an item. */
export function rowsOf(item: TranscriptItem | undefined, { columns }: Size): number {
  const text = item === undefined ? "" : item.kind === "call" ? (item.call.isOpen ? item.call.display : "") : item.text;
  return (text ?? "").split("\n").reduce((rows, line) => rows + Math.ceil((line.length + 1) / columns), 1);
}

/**
 * Returns the position of the open question, as in "1 of 3". Calls that perhaps need a confirmation later count as
 * questions too.
 */
export function questionNumber({ questions, items, settled }: AppState): QuestionNumber {
  const waiting = items.slice(settled).filter((item) => item.kind === "call" && item.call.status === "requested");
  const isOfTurn = questions.some(({ kind }) => kind === "confirmation");
  return { index: 1, total: questions.length + (isOfTurn ? waiting.length : 0) };
}
