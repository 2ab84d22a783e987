/** What servers answer with, whatever they made of it, in shapes that can be relied on; every doubt becomes a note. */

import type { JsonObject } from "../session.ts";
import { type Block, blockOf, blocksOf, contentsOf, metaOf, type ResourceContents } from "./blocks.ts";
import { excerpt, isObject, stringOf } from "./json.ts";

export interface ToolResult {
  readonly content: readonly Block[];
  /** Any JSON value; the member is absent if the server sent none. */
  readonly structuredContent?: unknown;
  readonly isError: boolean;
  readonly meta?: JsonObject;
  /** What had to be guessed or repaired. */
  readonly notes: readonly string[];
}

export interface PromptResult {
  readonly description?: string;
  /** One block a message. */
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: Block }[];
  readonly meta?: JsonObject;
  readonly notes: readonly string[];
}

export interface ResourceResult {
  readonly contents: readonly ResourceContents[];
  readonly meta?: JsonObject;
  readonly notes: readonly string[];
}

export function normaliseToolResult(raw: JsonObject): ToolResult {
  const notes: string[] = [];
  const { structuredContent, isError, toolResult } = raw;
  const nested = nestedError(raw);
  const given = raw["content"] ?? nested?.["content"] ?? nested?.["message"] ?? raw["content"];
  const isAncient = given === undefined && toolResult !== undefined;
  if (nested !== undefined) notes.push("the error is nested, as in early servers");
  // Structured content may well stand alone.
  const content = isAncient
    ? [ancientBlock(toolResult)]
    : blocksOf(given, structuredContent === undefined ? notes : []);
  if (isAncient) notes.push("the result has the form that the very first servers used");
  if (isError !== undefined && typeof isError !== "boolean") notes.push("isError is not a boolean");
  return {
    content,
    ...(structuredContent !== undefined && { structuredContent }),
    isError: isTrue(isError) || nested !== undefined,
    ...metaOf(raw),
    notes,
  };
}

/** `error: {isError: true, …}` instead of `isError: true`. */
function nestedError({ error }: JsonObject): JsonObject | undefined {
  return isObject(error) && isTrue(error["isError"]) ? error : undefined;
}

function isTrue(value: unknown): boolean {
  return value === true || value === "true";
}

/** One value of any kind, from before there were blocks. */
function ancientBlock(toolResult: unknown): Block {
  return {
    type: "text",
    text: typeof toolResult === "string" ? toolResult : excerpt(toolResult, Number.POSITIVE_INFINITY),
  };
}

export function normalisePromptResult(raw: JsonObject): PromptResult {
  const notes: string[] = [];
  const description = stringOf(raw["description"]);
  const messages = Array.isArray(raw["messages"]) ? raw["messages"] : [];
  if (!Array.isArray(raw["messages"])) notes.push("there is no list of messages");
  return {
    ...(description !== undefined && { description }),
    messages: messages.flatMap((message: unknown) => messagesOf(message, notes)),
    ...metaOf(raw),
    notes,
  };
}

/** Some servers put several blocks into one message. */
function messagesOf(message: unknown, notes: string[]): PromptResult["messages"] {
  if (!isObject(message)) {
    notes.push("a message is not an object");
    return [];
  }
  const { role, content } = message;
  if (role !== "user" && role !== "assistant") notes.push("a message has an unknown role and is taken for the user's");
  const blocks = isObject(content) ? [blockOf(content, notes)] : blocksOf(content, notes);
  return blocks.map((block) => ({ role: role === "assistant" ? "assistant" : "user", content: block }));
}

/** @param uri What was asked for: contents that do not say what they are can only be that. */
export function normaliseResourceResult(raw: JsonObject, uri: string): ResourceResult {
  const notes: string[] = [];
  const given = raw["contents"];
  const entries: readonly unknown[] = Array.isArray(given) ? given : isObject(given) ? [given] : [];
  if (!Array.isArray(given)) notes.push("the contents are not a list");
  const contents: ResourceContents[] = [];
  for (const entry of entries) {
    const found = contentsOf(isObject(entry) ? { uri, ...entry } : entry);
    if (found?.text === undefined && found?.blob === undefined) notes.push("contents hold neither text nor blob");
    if (found !== undefined) contents.push(found);
  }
  return { contents, ...metaOf(raw), notes };
}
