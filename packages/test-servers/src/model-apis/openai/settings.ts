/** How the stand-in of OpenAI's wire behaves: every setting can be changed while it runs. */

import { obedient } from "../obedient.ts";
import type { Answering } from "../script.ts";
import type { OpenaiTool } from "./request.ts";

export interface OpenaiSettings {
  /** What the model says. */
  answer: Answering;
  /** Without one, nobody is asked for a key, as on a machine of one's own. */
  apiKey: string | undefined;
  models: readonly string[];
  /**
   * How a call arrives: "pieces", its arguments a few characters at a time; "whole", in one go, as from Ollama; "interleaved", calls at once
   * in each other's midst; "same-index", whole and all of them number 0, as from older Ollamas (ollama #7881).
   */
  callDeltas: "pieces" | "whole" | "interleaved" | "same-index";
  charactersPerPiece: number;
  /** Where a model thinks: `reasoning_content` of vLLM and llama.cpp, `reasoning` of Ollama. */
  thoughtField: "reasoning_content" | "reasoning";
  /** Whether a stream ends with `[DONE]`. */
  hasDone: boolean;
  /** "nothing": whatever is wrong with a tool, the answer does not say which. */
  explains: "rules" | "nothing";
  /** A rule of the test's own: what is wrong with this tool. */
  refuses: (tool: OpenaiTool) => string | undefined;
  maxTools: number;
  maxInputTokens: number;
  /** The largest write of a stream, in bytes. */
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
