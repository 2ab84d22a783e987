/** Reads a tool's result from the parts of a `CallableTool`, in any of its forms. */

import type { Block } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { normaliseToolResult } from "@fairlead/wire/results";
import type { Part } from "../model-types.ts";
import { toReadableJson } from "./json-text.ts";

/** A tool's result. */
export interface Result {
  readonly content: readonly Block[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
}

/**
 * Whether the tool reports an error: in `isError`, in `error.isError` as early servers do, or in `error` as the Gemini
 * API does.
 */
export function isToolError(parts: readonly Part[]): boolean {
  return parts.some((part) => resultOf(part).isError);
}

/** Reads the result from a part. */
export function resultOf(part: Part): Result {
  const response = part.functionResponse?.response;
  if (response === undefined) return normaliseToolResult({ content: [toBlock(part)] });
  const { content } = response;
  const result = normaliseToolResult({ ...response, content: Array.isArray(content) ? content.map(toBlock) : content });
  const isError = result.isError || isErrorOfApi(response["error"]);
  if (Array.isArray(content) || result.content.length > 0 || result.structuredContent !== undefined)
    return { ...result, isError };
  // Not an MCP result: the whole response is the output.
  return { content: [{ type: "text", text: toReadableJson(response) }], isError };
}

/** Whether `error` is a non-empty value without an `isError` of its own. */
function isErrorOfApi(error: unknown): boolean {
  return Boolean(error) && !(isObject(error) && "isError" in error);
}

/** Keeps content blocks; converts parts of the Gemini API, which have no type, to blocks. */
function toBlock(item: unknown): unknown {
  if (!isObject(item) || item["type"] !== undefined) return item;
  const { text, inlineData } = item;
  if (typeof text === "string") return { type: "text", text };
  if (!isObject(inlineData)) return item;
  const { mimeType, data } = inlineData;
  const kind = typeof mimeType === "string" ? mimeType.split("/", 1)[0] : undefined;
  if (kind === "image" || kind === "audio") return { type: kind, mimeType, data };
  return { type: "resource", resource: { uri: "", mimeType, blob: data } };
}
