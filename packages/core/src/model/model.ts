/** The interface that every model provider implements, and the events of an answer. */

import type { JsonObject } from "@fairlead/wire";
import type { Content, FunctionDeclaration } from "../normalise/model-types.ts";
import type { SchemaDialect } from "../normalise/schema/compile.ts";

/** A language model as the host uses it: the host sends one request and reads one stream of events. */
export interface Model {
  /**
   * The API that answers, in recorded conversations and reports: any name. Fairlead's own models have `gemini`,
   * `openai-compatible`, `anthropic`, `manual` and `scripted`. `manual` means that a person types the calls: Fairlead
   * then limits neither results nor rounds.
   */
  readonly provider: string;
  /** The model's name in its API. */
  readonly name: string;
  /** The schema dialect that the model's API accepts. */
  readonly dialect: SchemaDialect;
  /** Maximum number of function declarations that the API accepts in one request. */
  readonly maxDeclarations: number;
  /** The size of the model's context in tokens, if it is known. */
  readonly contextTokens?: number;
  /** @deprecated The host does not read it. */
  readonly takesMediaInResponses?: boolean;
  /**
   * Sends a request. The last event is `finish` or `rejected`. Tool calls are emitted only when the answer is complete.
   *
   * @throws HostError `model` if no answer comes or the answer breaks off; `cancelled` when the signal is aborted
   */
  stream(
    messages: readonly Content[],
    tools: readonly FunctionDeclaration[],
    signal: AbortSignal,
    options?: StreamOptions,
  ): AsyncIterable<ModelEvent>;
}

/** Options of one request to a model. */
export interface StreamOptions {
  /** The system instruction. */
  readonly system?: string;
}

/** A tool call that the model requests. `name` is the tool name that the model was given. */
export interface ModelCall {
  readonly id?: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** Why a model ended its answer. */
export type FinishReason = "stop" | "length" | "safety" | "malformed_call" | "other";

/** An event in the stream of one answer of a model. */
export type ModelEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thought"; readonly text: string }
  | { readonly type: "call"; readonly call: ModelCall }
  /** The number of tokens that this request used. Emitted at most once. */
  | {
      readonly type: "usage";
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly cachedTokens?: number;
    }
  /** The API could not answer, and Fairlead sends the request again after `delayMs`. Comes before all other events. */
  | { readonly type: "retry"; readonly attempt: number; readonly delayMs: number; readonly reason: string }
  /**
   * The API refuses the request, perhaps because of a tool declaration. `declaration` is its index in `tools`, if the
   * API names it. Always the last event.
   */
  | { readonly type: "rejected"; readonly message: string; readonly declaration?: number }
  /**
   * The answer is complete. Always the last event. `content` goes into the history unchanged. `message` explains every
   * reason except `stop`. After `safety` and `malformed_call`, there are no calls.
   */
  | {
      readonly type: "finish";
      readonly reason: FinishReason;
      readonly message?: string;
      readonly content: Content;
    };
