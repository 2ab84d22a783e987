/** The settings of the replacement of the Gemini API. All of them can be changed while it runs. */

import { obedient } from "../obedient.ts";
import type { Answering } from "../script.ts";
import type { Declaration } from "./request.ts";

export interface GeminiSettings {
  /** Returns the model's answers. */
  answer: Answering;
  apiKey: string;
  models: readonly string[];
  /** Whether calls have an id. Calls of older models have none. */
  hasCallIds: boolean;
  /** Whether calls have a signature that must come back with them, as in Gemini 3 and later. */
  hasSignatures: boolean;
  /**
   * Whether an answer without calls ends with an empty text that has a signature. This signature need not come back.
   */
  signsText: boolean;
  /** Whether a result may contain media, as in Gemini 3 and later. */
  takesMediaInResponses: boolean;
  /** "nothing": for any fault of a declaration, the error is only "Request contains an invalid argument." */
  explains: "rules" | "nothing";
  /**
   * A rule for a single test: returns the fault of this declaration in the API's words. `{index}` is replaced by its
   * position.
   */
  refuses: (declaration: Declaration) => string | undefined;
  /** Maximum depth of nested schemas. The real number is not published. */
  maxDepth: number;
  maxDeclarations: number;
  maxInputTokens: number;
  /** Maximum size of a write to a stream, in bytes. */
  bytesPerWrite: number;
}

export function defaultGeminiSettings(): GeminiSettings {
  return {
    answer: obedient,
    apiKey: "test-key",
    models: ["gemini-3-pro-preview", "gemini-3-flash-preview", "gemini-2.5-pro", "gemini-2.5-flash"],
    hasCallIds: true,
    hasSignatures: true,
    signsText: false,
    takesMediaInResponses: true,
    explains: "rules",
    refuses: () => undefined,
    maxDepth: Number.POSITIVE_INFINITY,
    maxDeclarations: 512,
    maxInputTokens: 1_048_576,
    bytesPerWrite: Number.POSITIVE_INFINITY,
  };
}
