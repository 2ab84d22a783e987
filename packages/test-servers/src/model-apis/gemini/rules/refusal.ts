/**
 * Decides whether the Gemini API would accept a request: checks rule after rule, and answers with the first broken one.
 */

import { firstBroken } from "../../incoming.ts";
import type { Reply } from "../../reply.ts";
import { invalidArgument } from "../errors.ts";
import { contentRules } from "./contents.ts";
import { declarationRules } from "./declarations.ts";
import { jsonSchemaRules } from "./json-schema.ts";
import { mediaRules } from "./media.ts";
import { openApiRules } from "./open-api.ts";
import type { Heard, Rule } from "./rule.ts";
import { signatureRules } from "./signatures.ts";

const toolRules: readonly Rule[] = [...openApiRules, ...declarationRules, ...jsonSchemaRules];
const turnRules: readonly Rule[] = [...contentRules, ...signatureRules, ...mediaRules];

export function refusalOf(heard: Heard): Reply | undefined {
  const refusal = firstBroken(toolRules, heard);
  // The API often gives no details: google-gemini/gemini-cli #5270, ghidra-mcp #440.
  if (refusal && heard.settings.explains === "nothing") return invalidArgument("Request contains an invalid argument.");
  return refusal ?? firstBroken(turnRules, heard);
}
