/** Decides whether Anthropic's API would accept a request: returns the API's message for the first broken rule. */

import { type AnthropicBody, type AnthropicMessage, blocksIn, blocksOf, type ContentBlock } from "./request.ts";
import type { AnthropicSettings } from "./settings.ts";
import type { Thoughts } from "./thoughts.ts";

export interface Heard {
  readonly body: AnthropicBody;
  readonly settings: AnthropicSettings;
  readonly thoughts: Thoughts;
}

type Rule = (heard: Heard) => string | undefined;

const fields: Rule = ({ body, settings: { maxOutputTokens } }) => {
  const { model, max_tokens: most, messages = [] } = body;
  if (model === undefined) return "model: Field required";
  if (most === undefined) return "max_tokens: Field required";
  if (most > maxOutputTokens)
    return `max_tokens: ${most} > ${maxOutputTokens}, which is the maximum allowed number of output tokens for ${model}`;
  return messages.length === 0 ? "messages: at least one message is required" : undefined;
};

/**
 * The documentation of tools allows 64 characters in names; the API itself allows 128: home-assistant/core #147760,
 * claude-code #96152.
 */
const toolNames: Rule = ({ body: { tools = [] } }) => {
  const pattern = /^[a-zA-Z0-9_-]{1,128}$/;
  const at = tools.findIndex(({ name = "" }) => !pattern.test(name));
  if (at !== -1) return `tools.${at}.custom.name: String should match pattern '${pattern.source}'`;
  return new Set(tools.map(({ name }) => name)).size < tools.length ? "tools: Tool names must be unique." : undefined;
};

/** claude-code #40075 (combinations at the root) and #79418 (names of properties). */
const schemas: Rule = ({ body: { tools = [] }, settings }) => {
  for (const [at, tool] of tools.entries()) {
    const { input_schema: schema } = tool;
    const path = `tools.${at}.custom.input_schema`;
    if (schema === undefined) return `${path}: Field required`;
    if (schema["type"] !== "object") return `${path}.type: Input should be 'object'`;
    if (["anyOf", "oneOf", "allOf"].some((name) => name in schema))
      return `${path}: input_schema does not support oneOf, allOf, or anyOf at the top level`;
    if (!namesIn(schema).every((name) => propertyKey.test(name)))
      return `${path}.properties: Property keys should match pattern '${propertyKey.source}'`;
    const fault = settings.refuses(tool);
    if (fault !== undefined) return `${path}: ${fault}`;
  }
  return undefined;
};

const propertyKey = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Every name in a `properties` of the schema, wherever it stands. */
function namesIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]) =>
    keyword === "properties" && typeof value === "object" && value !== null
      ? [...Object.keys(value), ...Object.values(value).flatMap(namesIn)]
      : namesIn(value),
  );
}

/** At most four marks for the cache. A mark on an empty text or on a thought is refused. */
const cacheControls: Rule = ({ body: { tools = [], system, messages = [] } }) => {
  const blocks = [...blocksIn(system), ...messages.flatMap(blocksOf)];
  const marked = [...tools, ...blocks, ...blocks.flatMap(({ content }) => blocksIn(content))].filter(
    ({ cache_control }) => cache_control !== undefined,
  );
  if (marked.length > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`;
  return marked.some((block) => "thinking" in block) ? "messages: cache_control cannot be set on thinking" : undefined;
};

const roles: Rule = ({ body: { messages = [] } }) => {
  if (messages[0]?.role !== "user") return 'messages: first message must use the "user" role';
  const at = messages.findIndex(({ role }, index) => role === messages[index - 1]?.role);
  return at === -1
    ? undefined
    : `messages: roles must alternate between "user" and "assistant", but found multiple "${messages[at]?.role}" roles in a row`;
};

const texts: Rule = ({ body: { system, messages = [] } }) => {
  const blocks = [...blocksIn(system), ...messages.flatMap(blocksOf)];
  const all = [...blocks, ...blocks.flatMap(({ content }) => (typeof content === "string" ? [] : (content ?? [])))];
  return all.some(({ type, text }) => type === "text" && (text ?? "").trim() === "")
    ? "messages: text content blocks must contain non-whitespace text"
    : undefined;
};

const callIds: Rule = ({ body: { messages = [] } }) => {
  const pattern = /^[a-zA-Z0-9_-]+$/;
  const seen = new Set<string>();
  for (const [at, message] of messages.entries())
    for (const [index, { type, id = "" }] of blocksOf(message).entries()) {
      if (type !== "tool_use") continue;
      if (!pattern.test(id))
        return `messages.${at}.content.${index}.tool_use.id: String should match pattern '${pattern.source}'`;
      if (seen.has(id)) return `messages.${at}.content.${index}: \`tool_use\` ids must be unique`;
      seen.add(id);
    }
  return undefined;
};

const results: Rule = ({ body: { messages = [] } }) => {
  for (const [at, message] of messages.entries()) {
    const fault =
      unanswered(at, message, messages[at + 1]) ?? unasked(at, message, messages[at - 1]) ?? behind(at, message);
    if (fault !== undefined) return fault;
  }
  return undefined;
};

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

/** Results must come before other content. */
function behind(at: number, message: AnthropicMessage): string | undefined {
  const isResult = blocksOf(message).map(({ type }) => type === "tool_result");
  const first = isResult.indexOf(false);
  return first !== -1 && isResult.includes(true, first)
    ? `messages.${at}: \`tool_result\` blocks must come before other content`
    : undefined;
}

const pictures = ["image/jpeg", "image/png", "image/gif", "image/webp"];

const media: Rule = ({ body: { messages = [] }, settings: { takesImages } }) => {
  for (const [at, message] of messages.entries()) {
    const blocks = blocksOf(message).flatMap((block) => [
      block,
      ...(typeof block.content === "string" ? [] : (block.content ?? [])),
    ]);
    const fault = blocks.map((block) => mediaFault(block, takesImages)).find((each) => each !== undefined);
    if (fault !== undefined) return `messages.${at}.content.0.${fault}`;
  }
  return undefined;
};

function mediaFault({ type, source }: ContentBlock, takesImages: boolean): string | undefined {
  if (type !== "image" && type !== "document") return undefined;
  const { media_type = "", data = "" } = source ?? {};
  const allowed = type === "image" ? pictures : ["application/pdf"];
  if (!allowed.includes(media_type)) return `${type}.source.base64.media_type: Input should be ${allowed.join(", ")}`;
  if (data === "" || Buffer.from(data, "base64").toString("base64") !== data)
    return `${type}.source.base64.data: Invalid base64 data`;
  if (type === "image" && data.length > 5 * 1024 * 1024) return "image.source.base64: image exceeds 5 MB maximum";
  return type === "image" && !takesImages ? "image: this model does not support images" : undefined;
}

/** Thoughts must come back as they were, to the model that had them: anthropic-sdk-python #1598, llxprt-code #2335. */
const thinking: Rule = ({ body: { model = "", messages = [] }, thoughts }) => {
  for (const [at, message] of messages.entries()) {
    const blocks = blocksOf(message);
    const index = blocks.findIndex((block) => isThought(block) && !thoughts.isOwn(block, model));
    if (index !== -1) return `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`;
    const isLost = blocks.some(({ id = "" }) => thoughts.needs(id, model)) && !blocks.some(isThought);
    if (isLost && at === messages.length - 2)
      return `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`tool_use\`.`;
  }
  return undefined;
};

function isThought({ type }: ContentBlock): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

const size: Rule = ({ body, settings: { maxInputTokens } }) => {
  const tokens = Math.ceil(JSON.stringify(body).length / 4);
  return tokens > maxInputTokens ? `prompt is too long: ${tokens} tokens > ${maxInputTokens} maximum` : undefined;
};

const rules: readonly Rule[] = [
  fields,
  toolNames,
  schemas,
  cacheControls,
  roles,
  texts,
  callIds,
  results,
  media,
  thinking,
  size,
];

export function faultOf(heard: Heard): string | undefined {
  for (const rule of rules) {
    const fault = rule(heard);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
