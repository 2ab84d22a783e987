/** A placeholder for when no model is chosen. It answers questions such as "which tools would a model get?". */

import { HostError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Model } from "./model.ts";

/** A placeholder with Gemini's limits. Its `stream` always throws. */
export const assumedModel: Model = {
  provider: "gemini",
  name: "assumed",
  dialect: "gemini",
  maxDeclarations: limits.declarations,
  contextTokens: 1_048_576,
  takesMediaInResponses: true,
  stream() {
    throw new HostError("usage", "no model configured");
  },
};
