/** The state of the terminal app, and the events that change it. */

import type { HostEvent, ServerState } from "@fairlead/core/events";
import type { ConversationTokens, TurnEvent } from "@fairlead/core/turn";
import type { CompletionList } from "../input/completion.ts";
import type { Editor } from "../input/editor.ts";
import type { InputHistory } from "../input/history.ts";
import type { HistorySearch } from "../input/history-search.ts";
import type { DialogState } from "./dialog.ts";
import type { PanelState } from "./mcp-panel.ts";
import type { QuestionNumber, UserQuestion } from "./questions.ts";
import { isSettled, type NoteTone, type TranscriptItem } from "./transcript.ts";

/** Everything that the app shows. Only `reduce` creates a new state. */
export interface AppState {
  /** The items of the transcript, in the order in which they started. */
  readonly items: readonly TranscriptItem[];
  /** The first `settled` items are complete. They are drawn again only when `epoch` changes. */
  readonly settled: number;
  /** When this number changes, the app draws the whole screen again. */
  readonly epoch: number;
  /** Index of the first item to draw again when `epoch` changes. Earlier items stay in the terminal's scrollback. */
  readonly drawnFrom: number;
  readonly turn: TurnState;
  /** The open questions, oldest first. The app shows only the first one. */
  readonly questions: readonly UserQuestion[];
  readonly focus: Focus;
  readonly dialog?: DialogState;
  readonly editor: Editor;
  readonly completion?: CompletionList;
  /** The open `/mcp` panel. It receives the keys, unless a question is open. */
  readonly panel?: PanelState;
  readonly history: InputHistory;
  /** The open search in the history (Ctrl-R). It receives the keys of the prompt. */
  readonly search?: HistorySearch;
  /** Messages that the user entered during a turn. The app sends them after the turn. */
  readonly waiting: readonly string[];
  readonly servers: readonly ServerState[];
  readonly model: ModelLine;
  readonly usage: Usage;
  /** Estimated tokens of the next request. Undefined before the first turn. */
  readonly context: ConversationTokens | undefined;
  /** Whether the user has pressed Ctrl-C or Ctrl-D once on an empty prompt, so that the next one can quit the app. */
  readonly isQuitArmed: boolean;
  readonly isQuitting: boolean;
  readonly size: Size;
  /** The number in the key of the last transcript item (`item-7`). Keeps the keys unique. */
  readonly serial: number;
}

/** Whether a turn is running. `startedAt`: milliseconds on the session's clock. */
export type TurnState =
  | { readonly kind: "idle" }
  | {
      readonly kind: "running";
      readonly startedAt: number;
      /** What the turn waits for, such as `waiting for github`. */
      readonly doing?: string;
      readonly isCancelling: boolean;
    };

/**
 * Which part of the app receives the keys while a question is open. `dialog`: the question. `unseen`: the prompt, until
 * the user has had time to see the question. `input`: the prompt, until the user presses Tab.
 */
type Focus = "input" | "unseen" | "dialog";

/** The model as the status line shows it. `manual`: no model. */
export interface ModelLine {
  readonly provider: string;
  readonly name: string;
}

interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The size of the terminal, in characters. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A change of the app's state, by a key, the host, the turn or a command. */
export type AppEvent =
  | { readonly type: "turn"; readonly event: TurnEvent; readonly now: number }
  | { readonly type: "host"; readonly event: HostEvent }
  | { readonly type: "servers"; readonly servers: readonly ServerState[] }
  | { readonly type: "sent"; readonly text: string; readonly attachments: readonly string[]; readonly now: number }
  | { readonly type: "cancelling" }
  | { readonly type: "note"; readonly tone: NoteTone; readonly text: string; readonly next?: string }
  | { readonly type: "output"; readonly title: string; readonly text: string }
  | { readonly type: "ask"; readonly question: UserQuestion }
  /** Replaces the question with the same key, for example to show the next message of a sign-in. */
  | { readonly type: "ask_again"; readonly question: UserQuestion }
  /** The question with this key was answered or cancelled. */
  | { readonly type: "asked"; readonly key: string }
  /** The question was on the screen long enough for the user to see it. */
  | { readonly type: "drawn"; readonly key: string }
  | { readonly type: "focus"; readonly focus: "input" | "dialog" }
  | { readonly type: "dialog"; readonly dialog: DialogState }
  | { readonly type: "edit"; readonly editor: Editor; readonly history?: InputHistory }
  /** Shows an entry that the search in the history has found. Any `edit` ends the search. */
  | { readonly type: "search"; readonly search: HistorySearch; readonly editor: Editor }
  /** Shows the completion list, or closes it if `completion` is absent. */
  | { readonly type: "completion"; readonly completion?: CompletionList }
  | { readonly type: "panel"; readonly panel?: PanelState }
  | { readonly type: "entered"; readonly text: string }
  | { readonly type: "history"; readonly entries: readonly string[] }
  | { readonly type: "wait"; readonly text: string }
  /** The first `count` queued messages were sent, or put back into the prompt. */
  | { readonly type: "waited"; readonly count: number }
  /** Expands or folds the result of the call with this id. Without an id: of the last call. */
  | { readonly type: "fold"; readonly id?: string }
  | { readonly type: "model"; readonly model: ModelLine }
  | { readonly type: "resize"; readonly size: Size }
  | { readonly type: "arm_quit"; readonly isArmed: boolean }
  | { readonly type: "clear" }
  | { readonly type: "context"; readonly tokens: ConversationTokens }
  | { readonly type: "quit" };

type New<T> = T extends TranscriptItem ? Omit<T, "key"> : never;

/** Adds an item with a new key at the end of the transcript. */
export function add(state: AppState, item: New<TranscriptItem>): AppState {
  const serial = state.serial + 1;
  return { ...state, serial, items: [...state.items, { ...item, key: `item-${serial}` }] };
}

/** Sets `settled` to the number of complete items at the beginning of the transcript. */
export function markSettled(state: AppState): AppState {
  const open = state.items.findIndex((item, at) => at >= state.settled && !isSettled(item));
  const settled = open === -1 ? state.items.length : open;
  return settled === state.settled ? state : { ...state, settled };
}

/** Estimates how many screen rows an item takes, including the text of an expanded result. */
export function rowsOf(item: TranscriptItem | undefined, { columns }: Size): number {
  const text = item === undefined ? "" : item.kind === "call" ? (item.call.isOpen ? item.call.display : "") : item.text;
  return (text ?? "").split("\n").reduce((rows, line) => rows + Math.ceil((line.length + 1) / columns), 1);
}

/** Returns the numbers for "1 of 3". While a confirmation is open, the total includes calls that may need one later. */
export function questionNumber({ questions, items, settled }: AppState): QuestionNumber {
  const waiting = items.slice(settled).filter((item) => item.kind === "call" && item.call.status === "requested");
  const isOfTurn = questions.some(({ kind }) => kind === "confirmation");
  return { index: 1, total: questions.length + (isOfTurn ? waiting.length : 0) };
}
