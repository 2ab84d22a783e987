/** What the host asks of a model, whoever runs it: one request in, one stream of events out. */

import type { JsonObject } from "@fairlead/wire";
import type { Content, FunctionDeclaration } from "../normalise/model-types.ts";

/** A language model as the host uses it: one request in, one stream of events out. */
export interface Model {
  readonly provider: "gemini" | "openai-compatible" | "manual" | "scripted";
  /** As its API calls it. */
  readonly name: string;
  /** Which schemas its API takes. */
  readonly dialect: "gemini" | "openai";
  /** How many functions its API takes in one request. */
  readonly maxDeclarations: number;
  /** Whether media may stand inside a function response; otherwise they follow it in the same content. */
  readonly takesMediaInResponses: boolean;
  /**
   * Asks the model. Throws `HostError("model")` if there is no answer or it breaks off, and `HostError("cancelled")` once
   * the signal says so; otherwise the last event is `finish` or `rejected`. Calls come when the answer is whole.
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
  /** What the model is told before the conversation. */
  readonly system?: string;
}

/** A call that the model wants made, under the name it was shown. */
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
  /** Of this request; comes at most once. */
  | {
      readonly type: "usage";
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly cachedTokens?: number;
    }
  /** The API could not answer; it is asked again after that long. Comes before anything else. */
  | { readonly type: "retry"; readonly attempt: number; readonly delayMs: number; readonly reason: string }
  /** The API refuses the request, perhaps because of a tool; `declaration` is its place in `tools`, if the API says so. Always the last. */
  | { readonly type: "rejected"; readonly message: string; readonly declaration?: number }
  /**
   * Always the last. `content` goes into the history as it is: signatures and all; it may have no parts. `message` explains any
   * reason but `stop`. After `safety` and `malformed_call` there are no calls, neither as events nor in the content.
   */
  | {
      readonly type: "finish";
      readonly reason: FinishReason;
      readonly message?: string;
      readonly content: Content;
    };
