/** What one conversation holds from turn to turn. */

import type { Model } from "../model/model.ts";
import type { Content } from "../normalise/model-types.ts";
import type { Toolbox } from "./conversation-tools.ts";
import type { WriteSystemText } from "./system-text.ts";

/** How many requests to the model and how many tool calls one turn may take. */
export interface TurnLimits {
  /** How often the model is asked before it must have come to an end. */
  readonly turns: number;
  readonly calls: number;
}

/** Options of one turn. */
export interface SendOptions {
  readonly signal?: AbortSignal;
  /** The person typed it: what it refers to with `@` is read and put beside it. */
  readonly references?: boolean;
}

/** What one conversation holds, for the turns in it. */
export interface ConversationState {
  history: readonly Content[];
  model: Model;
  readonly toolbox: Toolbox;
  /** The servers that the person chose; without a choice even one can be referred to that offers the model nothing. */
  readonly chosen?: readonly string[];
  readonly wait: number;
  /** Those that were asked for. */
  readonly limits: Partial<TurnLimits>;
  /** Servers that were waited for once. */
  readonly awaited: Set<string>;
  /** Those of them that had not come by then. */
  readonly missing: Set<string>;
  /** Tools that the person knows are left out, and servers of which some are. */
  readonly told: Set<string>;
  /** Schemas that a model's API has taken. */
  readonly proven: WeakMap<Model, WeakSet<object>>;
  /** Made with the first request. */
  systemText?: WriteSystemText;
  /** Ids of the calls so far. */
  readonly callIds: Set<string>;
  /** Of the calls that have not come to an end: each stops one of them. */
  readonly stopCalls: Set<() => void>;
}
