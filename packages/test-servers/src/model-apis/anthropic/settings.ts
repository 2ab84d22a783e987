/** The settings of the replacement of Anthropic's API. All of them can be changed while it runs. */

import { obedient } from "../obedient.ts";
import type { Answering } from "../script.ts";
import type { AnthropicTool } from "./request.ts";

export interface AnthropicSettings {
  /** Returns the model's answers. */
  answer: Answering;
  apiKey: string;
  /** The list of models. The API answers for other names too, unless `knows` refuses them. */
  models: readonly string[];
  knows: (model: string) => boolean;
  /** The largest `max_tokens`. */
  maxOutputTokens: number;
  maxInputTokens: number;
  /** A rule for a single test: returns the fault of this tool. */
  refuses: (tool: AnthropicTool) => string | undefined;
  /** Whether the model's thoughts arrive encrypted. */
  redactsThoughts: boolean;
  /** Whether the model sees images. */
  takesImages: boolean;
  /** How many characters of a call's arguments arrive in one event. */
  charactersPerPiece: number;
  /** Maximum size of a write to a stream, in bytes. */
  bytesPerWrite: number;
}

export function defaultAnthropicSettings(): AnthropicSettings {
  return {
    answer: obedient,
    apiKey: "test-key",
    models: ["claude-opus-test", "claude-sonnet-test", "claude-sonnet-older"],
    knows: () => true,
    maxOutputTokens: 64_000,
    maxInputTokens: 1_000_000,
    refuses: () => undefined,
    redactsThoughts: false,
    takesImages: true,
    charactersPerPiece: 3,
    bytesPerWrite: Number.POSITIVE_INFINITY,
  };
}
