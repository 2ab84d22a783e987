import { HostError } from "../errors.ts";
import type { Model } from "../model/model.ts";
import type { Content, Part } from "../normalise/model-types.ts";
import { type ConversationTool, createToolSelection, type OfferedTool } from "./conversation-tools.ts";
import type { MissingServer, TurnEvent } from "./events.ts";
import { answerOpenCalls } from "./history.ts";
import type { ConversationState, SendOptions, TurnLimits } from "./state.ts";
import type { TurnHost } from "./turn-host.ts";

export type { ConversationTool, OfferedTool } from "./conversation-tools.ts";
export type { SendOptions, TurnLimits } from "./state.ts";

/** Options of a new conversation. */
export interface ConversationOptions {
  readonly model: Model;
  /** The servers whose tools and resources the conversation uses. Default: all. */
  readonly servers?: readonly string[];
  /** How long to wait for servers without a catalog, in milliseconds. Default: 10 000. */
  readonly wait?: number;
  /** Servers that the conversation does not start or wait for, each with the reason. Their cached tools can be used. */
  readonly notTried?: readonly MissingServer[];
  /** Limits of one `send`. Default: 50 requests to the model and 200 calls; none if the user types the calls. */
  readonly limits?: Partial<TurnLimits>;
  /** Earlier messages, perhaps of another run. */
  readonly history?: readonly Content[];
}

/** A conversation with a model: its history, its model and its tools. `send` runs one turn. */
export interface Conversation {
  /** Every call in it has a response, even after a failed turn. The array is never changed: it is replaced. */
  readonly history: readonly Content[];
  readonly model: Model;
  /** Runs one turn until the model has finished or is stopped. Never throws: failures are events. */
  readonly send: (input: string | readonly Part[], options?: SendOptions) => AsyncGenerator<TurnEvent, void, undefined>;
  /** Stops the running calls; the model is told, and the turn goes on. Returns false if no call is running. */
  readonly cancelCalls: () => boolean;
  /** Changes the model from the next request on. */
  readonly setModel: (model: Model) => void;
  /** Removes a tool from the conversation, or adds it again, from the next request on. */
  readonly setTool: (server: string, serverToolName: string, enabled: boolean) => void;
  readonly tools: () => readonly ConversationTool[];
  /** The tools that the model may use: whether it is offered each directly or has to search for it, and why. */
  readonly offers: () => readonly OfferedTool[];
}

const defaultWait = 10_000;

export function createConversation(options: ConversationOptions, host: TurnHost): Conversation {
  const { model, servers, wait = defaultWait, notTried = [], limits = {}, history = [] } = options;
  const state: ConversationState = {
    history: answerOpenCalls(history),
    model,
    toolSelection: createToolSelection({ host, ...(servers && { servers }) }),
    ...(servers && { chosen: servers }),
    wait,
    notTried,
    limits,
    awaited: new Set(),
    missing: new Set(),
    told: new Set(),
    proven: new WeakMap(),
    callIds: new Set(),
    stopCalls: new Set(),
  };
  let isBusy = false;

  return {
    get history() {
      return state.history;
    },
    get model() {
      return state.model;
    },
    async *send(input, sendOptions = {}) {
      if (isBusy) {
        const error = new HostError("busy", "this conversation is busy with a turn", {
          next: "Wait until the turn ends, or abort it.",
        });
        yield { type: "error", error };
        return;
      }
      isBusy = true;
      try {
        const { takeTurn } = await import("./turn.ts");
        yield* takeTurn(input, sendOptions, state, host);
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
      state.model = next;
    },
    setTool: state.toolSelection.setTool,
    tools: () => state.toolSelection.list(state.model),
    offers: () => state.toolSelection.offers(state.model),
  };
}
