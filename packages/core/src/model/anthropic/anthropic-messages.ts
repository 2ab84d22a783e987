/** Converts a conversation to messages of Anthropic's Messages API. Pure. */

import type { JsonObject } from "@fairlead/wire";
import type { Content, FunctionDeclaration, Part } from "../../normalise/model-types.ts";
import { mediaNote, responseText } from "../response-text.ts";
import type { NameMap } from "../tool-names.ts";

/** A thought in the form of the API. A redacted thought is encrypted. */
type ThinkingBlock =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string };

/** Converts a thought to a part of the history. Base64 has no `@`, so that no other API takes the signature for its own. */
export function toThought(block: ThinkingBlock, model: string): Part {
  return block.type === "thinking"
    ? { text: block.thinking, thought: true, thoughtSignature: `thinking@${model}@${block.signature}` }
    : { text: "", thought: true, thoughtSignature: `redacted@${model}@${block.data}` };
}

/** Converts a part of the history back. Undefined if the thought is not from this model. */
function toThinkingBlock({ text = "", thoughtSignature = "" }: Part, model: string): ThinkingBlock | undefined {
  const [thinking, redacted] = [`thinking@${model}@`, `redacted@${model}@`];
  if (thoughtSignature.startsWith(thinking))
    return { type: "thinking", thinking: text, signature: thoughtSignature.slice(thinking.length) };
  if (thoughtSignature.startsWith(redacted))
    return { type: "redacted_thinking", data: thoughtSignature.slice(redacted.length) };
  return undefined;
}

/** Marks the end of a part of the request that the API caches for the next requests. */
interface Cached {
  readonly cache_control?: { readonly type: "ephemeral" };
}

type TextBlock = Cached & { readonly type: "text"; readonly text: string };

/** An image, or a PDF document. */
type MediaBlock = Cached & {
  readonly type: "image" | "document";
  readonly source: { readonly type: "base64"; readonly media_type: string; readonly data: string };
};

type ToolUseBlock = Cached & {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
};

type ToolResultBlock = Cached & {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  readonly content: readonly (TextBlock | MediaBlock)[];
  readonly is_error?: true;
};

type Block = TextBlock | MediaBlock | ToolUseBlock | ToolResultBlock | ThinkingBlock;

export interface AnthropicMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly Block[];
}

/** A tool of the Messages API. */
export type AnthropicTool = Cached & {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
};

/** How to write the messages of one request. */
export interface AnthropicMessageOptions {
  /** The name of the model. It accepts no other model's thoughts. */
  readonly model: string;
  readonly names: NameMap;
  /** Whether the request contains images and documents. If false, a note replaces each of them. */
  readonly hasMedia: boolean;
  /** Whether the request contains the model's earlier thoughts. */
  readonly hasThoughts: boolean;
}

const cache_control = { type: "ephemeral" } as const;

/** Converts function declarations, with the tool names that the API accepts. The API caches the whole list. */
export function toAnthropicTools(tools: readonly FunctionDeclaration[], { toApi }: NameMap): AnthropicTool[] {
  return tools.map(({ name, description, parametersJsonSchema }, at) => ({
    name: toApi(name),
    description,
    input_schema: parametersJsonSchema,
    cache_control: at === tools.length - 1 ? cache_control : undefined,
  }));
}

/** Converts the system prompt. Undefined if it is empty, because the API refuses empty texts. */
export function toAnthropicSystem(system: string): readonly TextBlock[] | undefined {
  return system.trim() === "" ? undefined : [{ type: "text", text: system, cache_control }];
}

/**
 * Converts a conversation. User and assistant alternate, beginning with the user. Marks the end of the conversation and
 * the end of the previous request: with the tools and the system prompt, that makes the four marks that the API allows.
 */
export function toAnthropicMessages(
  contents: readonly Content[],
  options: AnthropicMessageOptions,
): AnthropicMessage[] {
  const written = joined(toMessages(contents, options));
  const ends = written.flatMap(({ role }, at) => (role === "user" ? [at] : [])).slice(-2);
  return written.map((message, at) => (ends.includes(at) ? withMark(message) : message));
}

interface OpenCall {
  readonly id: string;
  /** The id in the history, if any. */
  readonly given: string | undefined;
  readonly name: string | undefined;
}

function toMessages(contents: readonly Content[], options: AnthropicMessageOptions): AnthropicMessage[] {
  const ids = new Set<string>();
  let open: readonly OpenCall[] = [];
  return contents.map(({ role, parts }, at): AnthropicMessage => {
    if (role === "user") return { role, content: fromUser(parts, open, options) };
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    open = calls.map(({ id, name }, nth) => ({ id: freshId(id, `call_${at}_${nth}`, ids), given: id, name }));
    return { role: "assistant", content: fromModel(parts, open, options) };
  });
}

/**
 * The id of a call in the request. Another API may have given the call an id that this API refuses, or the same id
 * twice. Such a call, and one without an id, gets an id from its position, which is the same in every request.
 */
function freshId(id: string | undefined, position: string, taken: Set<string>): string {
  const fresh = id !== undefined && /^[a-zA-Z0-9_-]{1,200}$/.test(id) && !taken.has(id) ? id : position;
  taken.add(fresh);
  return fresh;
}

function fromModel(parts: readonly Part[], calls: readonly OpenCall[], options: AnthropicMessageOptions): Block[] {
  const { model, names, hasThoughts } = options;
  const open = [...calls];
  return parts.flatMap((part): Block[] => {
    const { text, thought, functionCall } = part;
    if (functionCall !== undefined) {
      const { name = "", args = {} } = functionCall;
      return [{ type: "tool_use", id: open.shift()?.id ?? "", name: names.toApi(name), input: args }];
    }
    if (thought !== true) return toText(text);
    const block = hasThoughts ? toThinkingBlock(part, model) : undefined;
    return block === undefined ? [] : [block];
  });
}

/** Results come first, because the API refuses other content between a call and its result. */
function fromUser(parts: readonly Part[], calls: readonly OpenCall[], options: AnthropicMessageOptions): Block[] {
  const open = [...calls];
  const results: ToolResultBlock[] = [];
  const others: Block[] = [];
  for (const part of parts) {
    const { functionResponse } = part;
    if (functionResponse === undefined) {
      others.push(...toBlocks(part, options));
      continue;
    }
    const { id, name, response = {}, parts: media = [] } = functionResponse;
    const index = open.findIndex((call) => (id === undefined ? call.name === name : call.given === id));
    const [call] = open.splice(Math.max(index, 0), 1);
    const content = [...toText(responseText(response)), ...media.flatMap((each) => toBlocks(each, options))];
    // A result without its call, for example in a history that a program made, is refused. So its text stands alone.
    if (call === undefined) others.push(...content);
    else {
      const isError = Object.hasOwn(response, "error");
      results.push({ type: "tool_result", tool_use_id: call.id, content, is_error: isError ? true : undefined });
    }
  }
  return [...results, ...others];
}

function toText(text: string | undefined): TextBlock[] {
  return text === undefined || text.trim() === "" ? [] : [{ type: "text", text }];
}

const images: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
/** The largest image that the API accepts, in Base64 characters. */
const largestImage = 5 * 1024 * 1024;

function toBlocks({ text, inlineData }: Part, { hasMedia }: AnthropicMessageOptions): (TextBlock | MediaBlock)[] {
  if (inlineData === undefined) return toText(text);
  const { mimeType: media_type = "", data = "" } = inlineData;
  const source = { type: "base64", media_type, data } as const;
  if (hasMedia && images.has(media_type) && data.length <= largestImage) return [{ type: "image", source }];
  if (hasMedia && media_type === "application/pdf") return [{ type: "document", source }];
  return [{ type: "text", text: mediaNote(inlineData) }];
}

/** Joins messages with the same role. Removes empty messages, and answers before the first message of the user. */
function joined(messages: readonly AnthropicMessage[]): AnthropicMessage[] {
  const written: AnthropicMessage[] = [];
  for (const message of messages) {
    const last = written.at(-1);
    if (message.content.length === 0 || (last === undefined && message.role === "assistant")) continue;
    if (last?.role !== message.role) written.push(message);
    else written[written.length - 1] = { ...last, content: [...last.content, ...message.content] };
  }
  return written;
}

function withMark(message: AnthropicMessage): AnthropicMessage {
  const content = message.content.map((block, at) =>
    at === message.content.length - 1 && block.type !== "thinking" && block.type !== "redacted_thinking"
      ? { ...block, cache_control }
      : block,
  );
  return { ...message, content };
}
