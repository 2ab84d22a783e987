/** Rules for thought signatures: what a model thought must come back with what it called. */

import { invalidArgument } from "../errors.ts";
import { partsOf, turnStart } from "../request.ts";
import type { Rule } from "./rule.ts";

/** What stands for a signature that never was: ai.google.dev/gemini-api/docs/thought-signatures. */
const stands: readonly string[] = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/** obsidian-gemini #228; the same page: of several calls at once the first is signed, and only the current turn is checked. */
const present: Rule = ({ body: { contents = [] }, settings }) => {
  const start = turnStart(contents);
  if (!settings.hasSignatures) return undefined;
  for (const [at, content] of contents.entries()) {
    const call = partsOf(content).find(({ functionCall }) => functionCall);
    if (at <= start || !call || call.thoughtSignature !== undefined) continue;
    return invalidArgument(
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${call.functionCall?.name}\` , position ${at + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
    );
  }
  return undefined;
};

/** The same page: signatures come back exactly as they were; the words are widely reported. */
const genuine: Rule = ({ body: { contents = [] }, settings, signatures }) =>
  settings.hasSignatures &&
  contents
    .flatMap(partsOf)
    .flatMap(({ thoughtSignature }) => thoughtSignature ?? [])
    .some((signature) => !signatures.has(signature) && !stands.includes(signature))
    ? invalidArgument("Corrupted thought signature.")
    : undefined;

export const signatureRules: readonly Rule[] = [present, genuine];
