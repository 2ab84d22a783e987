/** The interface of a conversation with a model: `send`, the history, the tools and the recorded file. */

import { HostError } from "../errors.ts";
import type { RunningHost } from "../host/running-host.ts";
import type { Model } from "../model/model.ts";
import type { Content, Part } from "../normalise/model-types.ts";
import type { ConfirmationAnswer, ToolCallConfirmationDetails } from "../policy/confirmation.ts";
import { ResultHandles, type StoredResult } from "../results/result-handles.ts";
import type { Pin } from "../server/names.ts";
import { type LoadedSkill, LoadedSkills } from "../skills/loaded-skills.ts";
import type { MissingServer, TurnEvent } from "./events.ts";
import { addContents, answerOpenCalls, tokensOfHistory } from "./history.ts";
import type { SystemText } from "./system-text.ts";
import { type ConversationTool, type OfferedTool, ToolSelection } from "./tools/conversation-tools.ts";
import type { OwnFunction, OwnNames } from "./tools/own-functions.ts";
import { contextOf } from "./tools/tool-offer.ts";

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

/** The state of one conversation between and during its turns. */
export class ConversationState {
  history: readonly Content[];
  /** The last compaction of the history, so that it can be undone. */
  compaction: { readonly before: readonly Content[]; readonly after: readonly Content[] } | undefined;
  /** Whether Fairlead automatically compacts a history that fills the model's context. */
  isCompactedByRule = true;
  readonly record: RecordChange;
  model: Model;
  readonly toolSelection: ToolSelection;
  readonly results: ResultHandles;
  readonly loadedSkills: LoadedSkills;
  /** The servers that the user chose. If absent, `@` in a message may name any server. */
  readonly chosen: readonly string[] | undefined;
  readonly wait: number;
  readonly notTried: readonly MissingServer[];
  /** The limits that the calling program sets for each turn. */
  readonly limits: Partial<TurnLimits>;
  /** Servers that a turn has already waited for. Fairlead waits for each server only once. */
  readonly awaited: Set<string> = new Set();
  /** Servers that a turn reported as missing, for example because they did not connect in time. */
  readonly missing: Set<string> = new Set();
  /** Whether the user knows that the model must search for some of the tools. */
  isDeferralTold = false;
  /** The schemas that a model's API has accepted. */
  readonly proven: WeakMap<Model, WeakSet<object>> = new WeakMap();
  /** Absent before the first request. */
  systemText: SystemText | undefined;
  /** Ids of all calls so far. */
  readonly callIds: Set<string>;
  /** The functions that stop the running calls. */
  readonly stopCalls: Set<() => void> = new Set();

  constructor(options: ConversationOptions, host: RunningHost, { record, earlier }: ConversationRecord) {
    const { model, servers, wait = defaultWait, notTried = [], limits = {} } = options;
    this.history = earlier?.history ?? [];
    this.record = record;
    this.model = model;
    this.results = new ResultHandles(
      host.keep,
      async (ids) => {
        const { findResults } = await import("../files/result-files.ts");
        return findResults(host.servers.configuration.locations.state, ids);
      },
      (stored) => record({ type: "result", ...stored }),
      earlier?.results,
    );
    this.loadedSkills = new LoadedSkills(earlier?.loadedSkills, (skill) => record({ type: "skill", ...skill }));
    this.toolSelection = new ToolSelection(host, record, this.results, servers, earlier);
    this.chosen = servers;
    this.wait = wait;
    this.notTried = notTried;
    this.limits = limits;
    this.callIds = new Set(earlier?.callIds);
  }
}

/** Creates a conversation. If `earlier` is given, continues a recorded one. */
export function createConversation(
  options: ConversationOptions,
  host: RunningHost,
  recording: ConversationRecord,
): Conversation {
  const { id, record, close, earlier } = recording;
  const { closing } = host.work;
  const state = new ConversationState(options, host, recording);
  let isBusy = false;
  let title = earlier?.title;
  if (earlier === undefined) addContents(state, ...answerOpenCalls(options.history ?? []));

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
    setTool: (...choice) => state.toolSelection.setTool(...choice),
    tools: () => state.toolSelection.list(state.model),
    offers: () => state.toolSelection.offeredTools(state.model),
    rename(next) {
      title = next;
      record({ type: "title", title: next });
    },
    compact: ({ signal = closing } = {}) =>
      alone(async () => {
        const { compactHistory } = await import("./compact.ts");
        await compactHistory(state, AbortSignal.any([signal, closing]));
      }),
    undoCompact: () =>
      alone(async () => {
        const { undoCompaction } = await import("./compact.ts");
        return undoCompaction(state);
      }),
    tokens() {
      const { total: history, results } = tokensOfHistory(state.history);
      const declarations = state.toolSelection.offeredTokens;
      return {
        declarations,
        history,
        results,
        context: contextOf(state.model, host.servers.configuration.settings.host.contextTokens),
      };
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

/** How many requests to the model, and how many tool calls, one turn may make. */
export interface TurnLimits {
  /** Maximum number of requests to the model. */
  readonly turns: number;
  readonly calls: number;
}

/** Options of one turn. */
export interface SendOptions {
  readonly signal?: AbortSignal;
  /** True if the user typed the text. Then Fairlead adds the resources and files that the text names with `@`. */
  readonly references?: boolean;
  /** Messages before the input, with their roles, such as the earlier messages of a prompt. */
  readonly before?: readonly Content[];
  /** The message as the user sees it, for the recorded conversation. Default: the text of the input. */
  readonly shown?: string;
  /**
   * The servers that this turn waits for if their tools are not known yet. Default: all servers of the conversation.
   * For a typed call, pass only the servers that the call names.
   */
  readonly waitFor?: readonly string[] | undefined;
  /**
   * Answers the confirmations of this turn. `call` is the id of the call in its events. Default: the host's `confirm`; if
   * there is none, `confirmation` events.
   */
  readonly confirm?: (
    details: ToolCallConfirmationDetails,
    signal: AbortSignal,
    call: string,
  ) => Promise<ConfirmationAnswer>;
  /** Called when the model requests a call. `signal` is the signal of the requests that the call sends. */
  readonly onCall?: (call: string, signal: AbortSignal) => void;
}

/** What a declaration in a request describes: a tool of a server, or one of Fairlead's own functions. */
export type OfferedPlace = { readonly server: string; readonly name: string } | { readonly function: OwnFunction };

/** A change of a conversation that is not an event of a turn. */
export type ConversationChange =
  /** A turn begins. `text` is the user's message as the user sees it. */
  | { readonly type: "input"; readonly text: string }
  /** A message is added to the history. If the message has calls, a `response` change follows for each call. */
  | { readonly type: "content"; readonly content: Content }
  /** The response to one call in the last message. The media in `beside` come after all responses. */
  | {
      readonly type: "response";
      /** The position of the call in its message. */
      readonly index: number;
      readonly server?: string;
      readonly part: Part;
      readonly beside?: readonly Part[];
    }
  /** Removes all but the first `to` messages of the history. */
  | { readonly type: "rewind"; readonly to: number }
  /** Replaces the history by these messages. */
  | { readonly type: "compact"; readonly contents: readonly Content[] }
  /** A result was stored. The model can read it as `result://ID`. */
  | ({ readonly type: "result" } & StoredResult)
  /** The model has loaded a skill. */
  | ({ readonly type: "skill" } & LoadedSkill)
  | { readonly type: "model"; readonly provider: string; readonly name: string }
  /**
   * New names of tools, and the names of Fairlead's own functions. In a resumed conversation, each name must mean the
   * same.
   */
  | { readonly type: "names"; readonly tools: readonly Pin[]; readonly functions?: OwnNames }
  /** The declarations in the next request. From position `from` on, `places` replaces the earlier list. */
  | { readonly type: "offered"; readonly from: number; readonly places: readonly OfferedPlace[] }
  | { readonly type: "tool"; readonly server: string; readonly serverToolName: string; readonly enabled: boolean }
  | { readonly type: "title"; readonly title: string };

/** Receives every change and every event of a conversation, before other code does. */
export type RecordChange = (change: ConversationChange | TurnEvent) => void;

/** The initial state of a resumed conversation. */
export interface EarlierConversation {
  readonly history: readonly Content[];
  readonly title?: string;
  /** The ids of all calls before the conversation was resumed. */
  readonly callIds: readonly string[];
  readonly names: readonly Pin[];
  readonly functions?: OwnNames;
  /** The declarations in the last request, in order. */
  readonly offered: readonly OfferedPlace[];
  readonly results: readonly StoredResult[];
  readonly loadedSkills?: readonly LoadedSkill[];
  /** Tools that the user has removed from the conversation. */
  readonly disabled: readonly { readonly server: string; readonly serverToolName: string }[];
}
