/**
 * Gives the results of `tools/call`, `prompts/get` and `resources/read` a fixed shape. Mistakes of the server become
 * notes.
 */

import type { JsonObject } from "../session.ts";
import { type Block, blockOf, blocksOf, contentsOf, metaOf, type ResourceContents } from "./blocks.ts";
import { excerpt, isObject, listOf, stringOf } from "./json.ts";

/** The result of `tools/call`. */
export interface ToolResult {
  readonly content: readonly Block[];
  /** Any JSON value. Absent if the server sent none. */
  readonly structuredContent?: unknown;
  readonly isError: boolean;
  readonly meta?: JsonObject;
  /** Sentences about mistakes in the server's result. */
  readonly notes: readonly string[];
}

/** The result of `prompts/get`. */
export interface PromptResult {
  readonly description?: string;
  /** Each message has one content block. */
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: Block }[];
  readonly meta?: JsonObject;
  readonly notes: readonly string[];
}

/** The result of `resources/read`. */
export interface ResourceResult {
  readonly contents: readonly ResourceContents[];
  readonly meta?: JsonObject;
  readonly notes: readonly string[];
}

/** Returns a tool's result in a fixed shape. Accepts the mistakes that servers are known to make. */
export function normaliseToolResult(raw: JsonObject): ToolResult {
  const notes: string[] = [];
  const { structuredContent, isError, toolResult } = raw;
  const nested = nestedError(raw);
  const given = raw["content"] ?? nested?.["content"] ?? nested?.["message"] ?? raw["content"];
  const isOldForm = given === undefined && toolResult !== undefined;
  if (nested !== undefined) notes.push("isError is a member of error, not of the result");
  // A result with structured content needs no content blocks, so mistakes in the content are not noted.
  const content = isOldForm
    ? [oldFormBlock(toolResult)]
    : blocksOf(given, structuredContent === undefined ? notes : []);
  if (isOldForm) notes.push("the result has the member toolResult, which only the first protocol versions define");
  if (isError !== undefined && typeof isError !== "boolean") notes.push("isError is not a boolean");
  const failed = isTrue(isError) || nested !== undefined;
  // Most results have neither, and the spreads below are slow.
  if (structuredContent === undefined && raw["_meta"] === undefined) return { content, isError: failed, notes };
  return { content, structuredContent, isError: failed, ...metaOf(raw), notes };
}

/** Some servers send `error: {isError: true, …}` instead of `isError: true`. */
function nestedError({ error }: JsonObject): JsonObject | undefined {
  return isObject(error) && isTrue(error["isError"]) ? error : undefined;
}

function isTrue(value: unknown): boolean {
  return value === true || value === "true";
}

/** The first protocol versions had `toolResult` instead of `content`. */
function oldFormBlock(toolResult: unknown): Block {
  const text = typeof toolResult === "string" ? toolResult : excerpt(toolResult, Number.POSITIVE_INFINITY);
  return { type: "text", text };
}

/** Returns a prompt's messages in a fixed shape. */
export function normalisePromptResult(raw: JsonObject): PromptResult {
  const notes: string[] = [];
  if (!Array.isArray(raw["messages"])) notes.push("messages is not a list");
  const messages = listOf(raw["messages"]).flatMap((message) => messagesOf(message, notes));
  return { description: stringOf(raw["description"]), messages, ...metaOf(raw), notes };
}

/** Returns one message for each block, because some servers put several blocks into one message. */
function messagesOf(message: unknown, notes: string[]): PromptResult["messages"] {
  if (!isObject(message)) {
    notes.push("a message is not an object");
    return [];
  }
  const { role, content } = message;
  if (role !== "user" && role !== "assistant") notes.push("a message has an unknown role; it is treated as the user's");
  const blocks = isObject(content) ? [blockOf(content, notes)] : blocksOf(content, notes);
  return blocks.map((block) => ({ role: role === "assistant" ? "assistant" : "user", content: block }));
}

/**
 * Returns a resource's contents in a fixed shape.
 *
 * @param uri The requested URI. Contents without a `uri` get this one.
 */
export function normaliseResourceResult(raw: JsonObject, uri: string): ResourceResult {
  const notes: string[] = [];
  const given = raw["contents"];
  const entries: readonly unknown[] = Array.isArray(given) ? given : isObject(given) ? [given] : [];
  if (!Array.isArray(given)) notes.push("the contents are not a list");
  const contents: ResourceContents[] = [];
  for (const entry of entries) {
    const found = contentsOf(isObject(entry) ? { uri, ...entry } : entry);
    if (found?.text === undefined && found?.blob === undefined) notes.push("contents have neither text nor blob");
    if (found !== undefined) contents.push(found);
  }
  return { contents, ...metaOf(raw), notes };
}
