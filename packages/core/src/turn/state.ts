/** The state of a conversation, which the code in this folder shares. */

import type { Model } from "../model/model.ts";
import type { Content } from "../normalise/model-types.ts";
import type { ResultHandles } from "../results/result-handles.ts";
import type { MissingServer } from "./events.ts";
import type { RecordChange } from "./record.ts";
import type { WriteSystemText } from "./system-text.ts";
import type { ToolSelection } from "./tools/conversation-tools.ts";

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
}

/** The state of one conversation between and during its turns. */
export interface ConversationState {
  history: readonly Content[];
  /** The last compaction of the history, so that it can be undone. */
  compaction?: { readonly before: readonly Content[]; readonly after: readonly Content[] };
  /** Whether Fairlead automatically compacts a history that fills the model's context. */
  isCompactedByRule: boolean;
  readonly record: RecordChange;
  model: Model;
  readonly toolSelection: ToolSelection;
  readonly results: ResultHandles;
  /** The servers that the user chose. If absent, `@` in a message may name any server. */
  readonly chosen?: readonly string[];
  readonly wait: number;
  readonly notTried: readonly MissingServer[];
  /** The limits that the calling program sets for each turn. */
  readonly limits: Partial<TurnLimits>;
  /** Servers that a turn has already waited for. Fairlead waits for each server only once. */
  readonly awaited: Set<string>;
  /** Servers that a turn reported as missing, for example because they did not connect in time. */
  readonly missing: Set<string>;
  /** Keys of notes that the user has seen. Fairlead shows each note only once in a conversation. */
  readonly told: Set<string>;
  /** The schemas that a model's API has accepted. */
  readonly proven: WeakMap<Model, WeakSet<object>>;
  /** Writes the system instruction. Absent before the first request. */
  systemText?: WriteSystemText;
  /** Ids of all calls so far. */
  readonly callIds: Set<string>;
  /** The functions that stop the running calls. */
  readonly stopCalls: Set<() => void>;
}
