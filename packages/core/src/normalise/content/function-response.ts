/** Reads a tool's result out of what a `CallableTool` gives, in whichever of its forms. */

import type { Block } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { normaliseToolResult } from "@fairlead/wire/results";
import type { Part } from "../model-types.ts";
import { toReadableJson } from "./json-text.ts";

export interface Result {
  readonly content: readonly Block[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
}

/** Whether the tool says that it failed: in `isError`, in that of `error` as early servers do, or in an `error` as the model's API has it. */
export function isToolError(parts: readonly Part[]): boolean {
  return parts.some((part) => resultOf(part).isError);
}

export function resultOf(part: Part): Result {
  const response = part.functionResponse?.response;
  if (response === undefined) return normaliseToolResult({ content: [toBlock(part)] });
  const { content } = response;
  const result = normaliseToolResult({ ...response, content: Array.isArray(content) ? content.map(toBlock) : content });
  const isError = result.isError || isErrorOfApi(response["error"]);
  if (Array.isArray(content) || result.content.length > 0 || result.structuredContent !== undefined)
    return { ...result, isError };
  // It is no result of MCP; then all of it is the output.
  return { content: [{ type: "text", text: toReadableJson(response) }], isError };
}

/** Any value but an empty one; one with a verdict of its own has been heard already. */
function isErrorOfApi(error: unknown): boolean {
  return Boolean(error) && !(isObject(error) && "isError" in error);
}

/** Blocks stay as they are; parts of the model's API, which have no type, become blocks. */
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
