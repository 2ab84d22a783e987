/** The settings of the replacement of OpenAI's API. All of them can be changed while it runs. */

import { obedient } from "../obedient.ts";
import type { Answering } from "../script.ts";
import type { OpenaiTool } from "./request.ts";

export interface OpenaiSettings {
  /** Returns the model's answers. */
  answer: Answering;
  /** The required API key; undefined if none is required, as on a local server. */
  apiKey: string | undefined;
  models: readonly string[];
  /**
   * How a call arrives. "pieces": its arguments a few characters at a time. "whole": all at once, as from Ollama.
   * "interleaved": the pieces of several calls alternate. "same-index": all at once, and every call has the number 0,
   * as from older versions of Ollama (ollama #7881).
   */
  callDeltas: "pieces" | "whole" | "interleaved" | "same-index";
  charactersPerPiece: number;
  /**
   * The member that contains the model's thoughts: `reasoning_content` with vLLM and llama.cpp, `reasoning` with
   * Ollama.
   */
  thoughtField: "reasoning_content" | "reasoning";
  /** Whether a stream ends with `[DONE]`. */
  hasDone: boolean;
  /** "nothing": for any fault of a tool, the error does not say which tool. */
  explains: "rules" | "nothing";
  /** A rule for a single test: returns the fault of this tool. */
  refuses: (tool: OpenaiTool) => string | undefined;
  maxTools: number;
  maxInputTokens: number;
  /** Maximum size of a write to a stream, in bytes. */
  bytesPerWrite: number;
}

export function defaultOpenaiSettings(): OpenaiSettings {
  return {
    answer: obedient,
    apiKey: undefined,
    models: ["test-model"],
    callDeltas: "pieces",
    charactersPerPiece: 3,
    thoughtField: "reasoning_content",
    hasDone: true,
    explains: "rules",
    refuses: () => undefined,
    maxTools: 128,
    maxInputTokens: 128_000,
    bytesPerWrite: Number.POSITIVE_INFINITY,
  };
}
