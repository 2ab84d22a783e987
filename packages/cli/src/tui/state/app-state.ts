/** Everything that the terminal app shows, and everything that can happen to it: plain data. */

import type { HostEvent, ServerState } from "@fairlead/core/events";
import type { TurnEvent } from "@fairlead/core/turn/events";
import type { CompletionList } from "../input/completion.ts";
import type { Editor } from "../input/editor.ts";
import type { InputHistory } from "../input/history.ts";
import type { DialogState } from "./dialog.ts";
import type { PanelState } from "./mcp-panel.ts";
import type { UserQuestion } from "./questions.ts";
import type { NoteTone, TranscriptItem } from "./transcript.ts";

export interface AppState {
  /** In the order in which they began. */
  readonly items: readonly TranscriptItem[];
  /** So many of them, from the first on, stay as they are. */
  readonly settled: number;
  /** Raised when what stands on the screen is to be drawn anew. */
  readonly epoch: number;
  /** From this item on; what is above has scrolled away, and stays as it was drawn. */
  readonly drawnFrom: number;
  readonly turn: TurnState;
  /** The first is the one that is asked. */
  readonly questions: readonly UserQuestion[];
  /** Where keys go while there is a question. */
  readonly focus: Focus;
  /** Of the first question. */
  readonly dialog?: DialogState;
  readonly editor: Editor;
  /** What may stand at the cursor. */
  readonly completion?: CompletionList;
  /** While it is open, keys are for it; a question stands before it. */
  readonly panel?: PanelState;
  readonly history: InputHistory;
  /** Typed while a turn was running: sent when it has ended. */
  readonly waiting: readonly string[];
  readonly servers: readonly ServerState[];
  readonly model: ModelLine;
  readonly usage: Usage;
  /** Ctrl-C on an empty prompt: once more, and the app ends. */
  readonly isQuitArmed: boolean;
  readonly isQuitting: boolean;
  readonly size: Size;
  /** How many things have happened: makes keys of items. */
  readonly serial: number;
}

export type TurnState =
  | { readonly kind: "idle" }
  | {
      readonly kind: "running";
      readonly startedAt: number;
      /** What it is about, if that is more than thinking: whom it waits for, when it tries again. */
      readonly doing?: string;
      readonly isCancelling: boolean;
    };

/**
 * A question must have been seen before a key can be its answer, and whoever is in the middle of typing goes on typing:
 * `unseen` until its first frame is drawn, then `dialog` if nothing was being typed or chosen, else `input` until Tab is pressed.
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
  /** As they are all now. */
  | { readonly type: "servers"; readonly servers: readonly ServerState[] }
  | { readonly type: "sent"; readonly text: string; readonly attachments: readonly string[]; readonly now: number }
  | { readonly type: "cancelling" }
  | { readonly type: "note"; readonly tone: NoteTone; readonly text: string; readonly next?: string }
  | { readonly type: "output"; readonly title: string; readonly text: string }
  | { readonly type: "ask"; readonly question: UserQuestion }
  /** The same question, with more to show. */
  | { readonly type: "ask_again"; readonly question: UserQuestion }
  /** It was answered, or is of no interest any more. */
  | { readonly type: "asked"; readonly key: string }
  /** A frame with this question in it stands on the screen. */
  | { readonly type: "drawn"; readonly key: string }
  | { readonly type: "focus"; readonly focus: "input" | "dialog" }
  | { readonly type: "dialog"; readonly dialog: DialogState }
  | { readonly type: "edit"; readonly editor: Editor; readonly history?: InputHistory }
  /** Without one: none. */
  | { readonly type: "completion"; readonly completion?: CompletionList }
  | { readonly type: "panel"; readonly panel?: PanelState }
  /** What is in the editor has been taken out of it. */
  | { readonly type: "entered"; readonly text: string }
  | { readonly type: "history"; readonly entries: readonly string[] }
  | { readonly type: "wait"; readonly text: string }
  /** So many of what was waiting, from the first on, do so no longer. */
  | { readonly type: "waited"; readonly count: number }
  /** Shows the result of a call whole, or folded again; without an id, of the last one. */
  | { readonly type: "fold"; readonly id?: string }
  | { readonly type: "model"; readonly model: ModelLine }
  | { readonly type: "resize"; readonly size: Size }
  | { readonly type: "arm_quit"; readonly isArmed: boolean }
  | { readonly type: "clear" }
  | { readonly type: "quit" };
