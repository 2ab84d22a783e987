/** Decides whether Anthropic's API would accept a request: returns the API's message for the first broken rule. */

import { type AnthropicBody, type AnthropicMessage, blocksOf } from "./request.ts";

const namePattern = /^[a-zA-Z0-9_-]{1,128}$/;

export function faultOf(body: AnthropicBody): string | undefined {
  const { model, max_tokens: most, messages = [], tools = [] } = body;
  if (model === undefined) return "model: Field required";
  if (most === undefined) return "max_tokens: Field required";
  for (const [at, { name = "", input_schema: schema }] of tools.entries()) {
    if (!namePattern.test(name)) return `tools.${at}.custom.name: String should match pattern '${namePattern.source}'`;
    if (schema?.type !== "object") return `tools.${at}.custom.input_schema.type: Field required`;
  }
  for (const [at, message] of messages.entries()) {
    const fault = unanswered(at, message, messages[at + 1]) ?? unasked(at, message, messages[at - 1]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function unanswered(at: number, message: AnthropicMessage, next: AnthropicMessage | undefined): string | undefined {
  const answered = new Set(next && blocksOf(next).map((block) => block.tool_use_id));
  const missing = blocksOf(message).filter(({ type, id }) => type === "tool_use" && !answered.has(id));
  if (missing.length === 0) return undefined;
  const ids = missing.map(({ id }) => id).join(", ");
  return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}.`;
}

function unasked(at: number, message: AnthropicMessage, before: AnthropicMessage | undefined): string | undefined {
  const asked = new Set(before && blocksOf(before).map(({ id }) => id));
  const stray = blocksOf(message).find((block) => block.type === "tool_result" && !asked.has(block.tool_use_id));
  return stray && `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray.tool_use_id}.`;
}
