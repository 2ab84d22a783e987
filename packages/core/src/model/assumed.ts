/** A placeholder model. Fairlead uses it to show which tools a model would get, if no model is chosen. */

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
  stream() {
    throw new HostError("usage", "no model configured");
  },
};
