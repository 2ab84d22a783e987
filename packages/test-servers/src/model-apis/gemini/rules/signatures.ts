/** Rules for thought signatures: the client must send a call back with the signature that came with it. */

import { invalidArgument } from "../errors.ts";
import { partsOf, turnStart } from "../request.ts";
import type { Rule } from "./rule.ts";

/** Values that the API accepts in place of a missing signature (ai.google.dev/gemini-api/docs/thought-signatures). */
const stands: readonly string[] = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/**
 * A call needs a signature: obsidian-gemini #228. Of several calls at once only the first is signed, and only the
 * current turn is checked (same page).
 */
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

/** Signatures must come back unchanged (same page). The text of the error is widely reported. */
const genuine: Rule = ({ body: { contents = [] }, settings, signatures }) =>
  settings.hasSignatures &&
  contents
    .flatMap(partsOf)
    .flatMap(({ thoughtSignature }) => thoughtSignature ?? [])
    .some((signature) => !signatures.has(signature) && !stands.includes(signature))
    ? invalidArgument("Corrupted thought signature.")
    : undefined;

export const signatureRules: readonly Rule[] = [present, genuine];
