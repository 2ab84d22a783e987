/** One conversation with a model: what has been said, who answers, and which tools it may use. What happens in a turn stands in `turn.ts`. */

import { HostError } from "../errors.ts";
import type { Model } from "../model/model.ts";
import type { Content, Part } from "../normalise/model-types.ts";
import { type ConversationTool, createToolbox } from "./conversation-tools.ts";
import type { TurnEvent } from "./events.ts";
import { answerOpenCalls } from "./history.ts";
import type { ConversationState, SendOptions, TurnLimits } from "./state.ts";
import type { TurnHost } from "./turn-host.ts";

export type { ConversationTool } from "./conversation-tools.ts";
export type { SendOptions, TurnLimits } from "./state.ts";

/** Options of a new conversation. */
export interface ConversationOptions {
  readonly model: Model;
  /** Its tools and resources come from these alone; by default from all. */
  readonly servers?: readonly string[];
  /** How long, in milliseconds, servers are waited for of which nothing is known yet; 10 000 unless said otherwise. */
  readonly wait?: number;
  /** Of what one `send` may come to: 50 turns and 200 calls unless said otherwise, and no limit where the person makes the calls. */
  readonly limits?: Partial<TurnLimits>;
  /** What was said before, perhaps in another run. */
  readonly history?: readonly Content[];
}

/** A conversation with a model: its history, its model and its tools. `send` runs one turn. */
export interface Conversation {
  /** Every call in it has its response, whatever became of the turn. The list that is given out stays as it is. */
  readonly history: readonly Content[];
  readonly model: Model;
  /** One turn: until the model has come to an end, or is stopped. Failures are events: it never throws. */
  readonly send: (input: string | readonly Part[], options?: SendOptions) => AsyncGenerator<TurnEvent, void, undefined>;
  /** Stops the calls that have not come to an end; the model is told so, and the turn goes on. False: there is none. */
  readonly cancelCalls: () => boolean;
  /** From the next request on. */
  readonly setModel: (model: Model) => void;
  /** Takes a tool out of the conversation, or back in, from the next request on. */
  readonly setTool: (server: string, serverToolName: string, enabled: boolean) => void;
  readonly tools: () => readonly ConversationTool[];
}

const defaultWait = 10_000;

export function createConversation(options: ConversationOptions, host: TurnHost): Conversation {
  const { model, servers, wait = defaultWait, limits = {}, history = [] } = options;
  const state: ConversationState = {
    history: answerOpenCalls(history),
    model,
    toolbox: createToolbox({ host, ...(servers && { servers }) }),
    ...(servers && { chosen: servers }),
    wait,
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
        const error = new HostError("busy", "this conversation is in the middle of a turn", {
          next: "Wait for its end, or abort it.",
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
    setTool: state.toolbox.setTool,
    tools: () => state.toolbox.list(state.model),
  };
}
