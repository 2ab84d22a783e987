/** How the stand-in of the Gemini API behaves: every setting can be changed while it runs. */

import { obedient } from "../obedient.ts";
import type { Answering } from "../script.ts";
import type { Declaration } from "./request.ts";

export interface GeminiSettings {
  /** What the model says. */
  answer: Answering;
  apiKey: string;
  models: readonly string[];
  /** Whether calls carry an id. Older models give none. */
  hasCallIds: boolean;
  /** Whether calls carry a signature that must come back with them, as of Gemini 3. */
  hasSignatures: boolean;
  /** Whether an answer without calls ends in an empty text with a signature, which need not come back. */
  signsText: boolean;
  /** Whether a result may carry media, as of Gemini 3. */
  takesMediaInResponses: boolean;
  /** "nothing": whatever is wrong with a declaration, "Request contains an invalid argument." is all that is said. */
  explains: "rules" | "nothing";
  /** A rule of the test's own: what is wrong with this declaration, in the API's words; `{index}` becomes its place. */
  refuses: (declaration: Declaration) => string | undefined;
  /** How deep schemas may stand in each other; no number is published. */
  maxDepth: number;
  maxDeclarations: number;
  maxInputTokens: number;
  /** The largest write of a stream, in bytes. */
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
