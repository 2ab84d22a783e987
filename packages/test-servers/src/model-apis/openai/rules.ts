/**
 * Decides whether OpenAI's API would accept a request: checks rule after rule, and answers with the first broken one.
 */

import { firstBroken } from "../incoming.ts";
import type { Reply } from "../reply.ts";
import { openaiError } from "./errors.ts";
import type { OpenaiBody } from "./request.ts";
import { arrayWithoutItems, isObjectSchema } from "./schema.ts";
import type { OpenaiSettings } from "./settings.ts";

export interface Heard {
  readonly body: OpenaiBody;
  readonly settings: OpenaiSettings;
  readonly inputTokens: number;
}

type Rule = (heard: Heard) => Reply | undefined;

const pattern = /^[a-zA-Z0-9_-]+$/;

/**
 * The rule for names: brekkylab/ailoy #109. The length is from `FunctionDefinition.name` in OpenAI's API reference, the
 * text of its error from 5ire #33.
 */
const name: Rule = ({ body: { tools = [] } }) => {
  for (const [index, tool] of tools.entries()) {
    const given = tool.function?.name ?? "";
    const param = `tools[${index}].function.name`;
    if (!pattern.test(given))
      return openaiError(
        400,
        `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        { param, code: "invalid_value" },
      );
    if (given.length > 64)
      return openaiError(
        400,
        `Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${given.length} instead.`,
        { param, code: "string_above_max_length" },
      );
  }
  return undefined;
};

/** At most 128 tools are allowed (`tools` in OpenAI's API reference). The text of the error is widely reported. */
const count: Rule = ({ body: { tools = [] }, settings: { maxTools } }) =>
  tools.length > maxTools
    ? openaiError(
        400,
        `Invalid 'tools': array too long. Expected an array with maximum length ${maxTools}, but got an array with length ${tools.length} instead.`,
        { param: "tools", code: "array_above_max_length" },
      )
    : undefined;

/**
 * The rules for schemas: spring-ai #4776 (an object without properties), aichat #1049 and ms-agent #610 (a list without
 * items).
 */
const schema: Rule = ({ body: { tools = [] }, settings }) => {
  for (const [index, tool] of tools.entries()) {
    const { parameters } = tool.function ?? {};
    const wrong = settings.refuses(tool) ?? (parameters && schemaFault(parameters));
    if (wrong === undefined) continue;
    return openaiError(400, `Invalid schema for function '${tool.function?.name}': ${wrong}`, {
      param: `tools[${index}].function.parameters`,
      code: "invalid_function_parameters",
    });
  }
  return undefined;
};

function schemaFault(parameters: Readonly<Record<string, unknown>>): string | undefined {
  if (!isObjectSchema(parameters))
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${typeof parameters["type"] === "string" ? parameters["type"] : "None"}"'.`;
  if (parameters["properties"] === undefined) return "In context=(), object schema missing properties.";
  const context = arrayWithoutItems(parameters);
  return context && `In context=(${context.map((word) => `'${word}'`).join(", ")}), array schema missing items.`;
}

/** mcp-use #90. */
const calledName: Rule = ({ body: { messages = [] } }) => {
  for (const [at, { tool_calls = [] }] of messages.entries()) {
    const index = tool_calls.findIndex((call) => !pattern.test(call.function?.name ?? ""));
    const param = `messages[${at}].tool_calls[${index}].function.name`;
    if (index !== -1)
      return openaiError(
        400,
        `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        { param, code: "invalid_value" },
      );
  }
  return undefined;
};

/** cai #111. */
const everyCallAnswered: Rule = ({ body: { messages = [] } }) => {
  for (const [at, { tool_calls = [] }] of messages.entries()) {
    const after = messages.slice(at + 1);
    const end = after.findIndex(({ role }) => role !== "tool");
    const answered = new Set(after.slice(0, end === -1 ? undefined : end).map((message) => message.tool_call_id));
    const missing = tool_calls.filter(({ id }) => !answered.has(id)).map(({ id }) => id);
    if (missing.length > 0)
      return openaiError(
        400,
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${missing.join(", ")}`,
        { param: `messages.[${at + 1}].role` },
      );
  }
  return undefined;
};

/** The text of the error, with its spelling mistake, is widely reported. */
const answersCalls: Rule = ({ body: { messages = [] } }) => {
  const ids = new Set(messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)));
  const at = messages.findIndex((message) => message.role === "tool" && !ids.has(message.tool_call_id));
  return at === -1
    ? undefined
    : openaiError(
        400,
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        { param: `messages.[${at}].role` },
      );
};

/** The text of the error is widely reported. */
const fits: Rule = ({ inputTokens, settings: { maxInputTokens } }) =>
  inputTokens > maxInputTokens
    ? openaiError(
        400,
        `This model's maximum context length is ${maxInputTokens} tokens. However, your messages resulted in ${inputTokens} tokens. Please reduce the length of the messages.`,
        { param: "messages", code: "context_length_exceeded" },
      )
    : undefined;

const toolRules: readonly Rule[] = [name, count, schema];
const turnRules: readonly Rule[] = [calledName, everyCallAnswered, answersCalls, fits];

export function refusalOf(heard: Heard): Reply | undefined {
  const refusal = firstBroken(toolRules, heard);
  // A local server gives this answer if it cannot build a grammar from the schema.
  if (refusal && heard.settings.explains === "nothing") return openaiError(400, "Invalid request.");
  return refusal ?? firstBroken(turnRules, heard);
}
