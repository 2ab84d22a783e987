/** The interface of a conversation with a model: `send`, the history, the tools and the recorded file. */

import { HostError } from "../errors.ts";
import type { Model } from "../model/model.ts";
import type { Content, Part } from "../normalise/model-types.ts";
import { createResultHandles } from "../results/result-handles.ts";
import type { MissingServer, TurnEvent } from "./events.ts";
import { addContents, answerOpenCalls, tokensOfHistory } from "./history.ts";
import type { EarlierConversation, RecordChange } from "./record.ts";
import type { ConversationState, SendOptions, TurnLimits } from "./state.ts";
import { type ConversationTool, createToolSelection, type OfferedTool } from "./tools/conversation-tools.ts";
import { contextOf } from "./tools/tool-budget.ts";
import type { TurnHost } from "./turn-host.ts";

export type { SendOptions, TurnLimits } from "./state.ts";
export type { ConversationTool, OfferedTool } from "./tools/conversation-tools.ts";

/** Options of a new conversation. */
export interface ConversationOptions {
  readonly model: Model;
  /** The servers whose tools and resources the conversation uses. Default: all. */
  readonly servers?: readonly string[];
  /** How many milliseconds to wait for servers without a cached catalog. Default: 10 000. */
  readonly wait?: number;
  /**
   * Servers that a turn does not start unless `waitFor` names them, each with the reason. Their cached tools can still
   * be used.
   */
  readonly notTried?: readonly MissingServer[];
  /**
   * Limits of one `send`. Default: 50 requests to the model and 200 calls. Calls that the user types have no limits.
   */
  readonly limits?: Partial<TurnLimits>;
  /** The messages with which the conversation begins, for example from an earlier run. */
  readonly history?: readonly Content[];
}

/** A conversation with a model: its history, its model and its tools. `send` runs one turn. */
export interface Conversation {
  /** The id of the recorded conversation, for `host.conversation({ resume: id })`. */
  readonly id: string;
  /** The name that the user gave to the conversation. */
  readonly title: string | undefined;
  /** The messages. Every call has a response, even after a failed turn. A change creates a new array. */
  readonly history: readonly Content[];
  readonly model: Model;
  /** Runs one turn, until the model has finished or is stopped. Never throws; a failure is an event. */
  readonly send: (input: string | readonly Part[], options?: SendOptions) => AsyncGenerator<TurnEvent, void, undefined>;
  /** Stops the running calls and tells the model. The turn continues. Returns false if no call is running. */
  readonly cancelCalls: () => boolean;
  /** Changes the model. Takes effect with the next request. */
  readonly setModel: (model: Model) => void;
  /** Removes a tool from the conversation, or adds it again. Takes effect with the next request. */
  readonly setTool: (server: string, serverToolName: string, enabled: boolean) => void;
  readonly tools: () => readonly ConversationTool[];
  /**
   * The tools that the model may use. For each tool: whether it is offered directly or the model must search for it,
   * and why.
   */
  readonly offers: () => Promise<readonly OfferedTool[]>;
  /** Gives the conversation a name for lists of conversations. */
  readonly rename: (title: string) => void;
  /**
   * Replaces the history by a summary that the model writes. The recorded conversation still contains the whole
   * history.
   *
   * @throws HostError `busy` during a turn, `usage` without a model or a history, `model` if the model fails,
   * `cancelled` if the signal is aborted
   */
  readonly compact: (options?: Pick<SendOptions, "signal">) => Promise<void>;
  /**
   * Undoes the last compaction. Messages since the compaction stay. From then on, Fairlead does not compact the
   * conversation automatically. Returns false if there is nothing to undo.
   *
   * @throws HostError `busy` during a turn
   */
  readonly undoCompact: () => Promise<boolean>;
  /** The estimated number of tokens of the next request. */
  readonly tokens: () => ConversationTokens;
  /**
   * Closes the file of the recorded conversation, so that other processes can resume the conversation. The next turn
   * opens the file again.
   */
  readonly close: () => Promise<void>;
}

/** The estimated tokens of a request to the model. */
export interface ConversationTokens {
  /** The tokens of tool definitions, as in the last request. */
  readonly declarations: number;
  /** The tokens of all messages. */
  readonly history: number;
  /** The tokens of call results. `history` includes these tokens. */
  readonly results: number;
  /** The size of the model's context in tokens. */
  readonly context: number;
}

/** The recorder of a conversation, and the state that a resumed conversation begins with. */
export interface ConversationRecord {
  readonly id: string;
  readonly record: RecordChange;
  readonly close: () => Promise<void>;
  readonly earlier?: EarlierConversation;
}

const defaultWait = 10_000;

/** Creates a conversation. If `earlier` is given, continues a recorded one. */
export function createConversation(
  options: ConversationOptions,
  host: TurnHost,
  { id, record, close, earlier }: ConversationRecord,
): Conversation {
  const { model, servers, wait = defaultWait, notTried = [], limits = {}, history = [] } = options;
  const results = createResultHandles({
    store: host.storeResult,
    find: host.findResults,
    record: (stored) => record({ type: "result", ...stored }),
    earlier: earlier?.results,
  });
  const state: ConversationState = {
    history: [],
    isCompactedByRule: true,
    record,
    model,
    results,
    toolSelection: createToolSelection({
      host,
      record,
      hasResults: results.isUsed,
      servers,
      earlier,
    }),
    chosen: servers,
    wait,
    notTried,
    limits,
    awaited: new Set(),
    missing: new Set(),
    told: new Set(),
    proven: new WeakMap(),
    callIds: new Set(earlier?.callIds),
    stopCalls: new Set(),
  };
  let isBusy = false;
  let title = earlier?.title;
  if (earlier) state.history = earlier.history;
  else addContents(state, ...answerOpenCalls(history));

  /** @throws HostError `busy` */
  async function alone<T>(work: () => Promise<T>): Promise<T> {
    if (isBusy) throw busy();
    isBusy = true;
    try {
      return await work();
    } finally {
      isBusy = false;
    }
  }

  return {
    id,
    get title() {
      return title;
    },
    get history() {
      return state.history;
    },
    get model() {
      return state.model;
    },
    async *send(input, sendOptions = {}) {
      if (isBusy) {
        yield { type: "error", error: busy() };
        return;
      }
      isBusy = true;
      try {
        const { takeTurn } = await import("./turn.ts");
        record({ type: "input", text: sendOptions.shown ?? textOf(input) });
        for await (const event of takeTurn(input, sendOptions, state, host)) {
          record(event);
          yield event;
        }
      } finally {
        isBusy = false;
      }
    },
    cancelCalls() {
      const stops = [...state.stopCalls];
      for (const stop of stops) stop();
      return stops.length > 0;
    },
    setModel(next) {
      if (next !== state.model) record({ type: "model", provider: next.provider, name: next.name });
      state.model = next;
    },
    setTool: state.toolSelection.setTool,
    tools: () => state.toolSelection.list(state.model),
    offers: () => state.toolSelection.offeredTools(state.model),
    rename(next) {
      title = next;
      record({ type: "title", title: next });
    },
    compact: ({ signal = host.closing } = {}) =>
      alone(async () => {
        const { compactHistory } = await import("./compact.ts");
        await compactHistory(state, AbortSignal.any([signal, host.closing]));
      }),
    undoCompact: () =>
      alone(async () => {
        const { undoCompaction } = await import("./compact.ts");
        return undoCompaction(state);
      }),
    tokens() {
      const { total: history, results } = tokensOfHistory(state.history);
      const declarations = state.toolSelection.offeredTokens();
      return { declarations, history, results, context: contextOf(state.model, host) };
    },
    close,
  };
}

function busy(): HostError {
  return new HostError("busy", "this conversation is busy with a turn", {
    next: "Wait until the turn ends, or abort it.",
  });
}

function textOf(input: string | readonly Part[]): string {
  return typeof input === "string" ? input : input.flatMap(({ text }) => text ?? []).join("\n");
}
