/** A placeholder model with the usual limits, for questions such as "which tools would a model be offered?". */

import { HostError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Model } from "./model.ts";

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
