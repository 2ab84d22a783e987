/** The result of a `CallableTool`: parts for a model, and text for a person. */

import { isObject, member, stringOf } from "@fairlead/wire/json";
import { normaliseToolResult } from "@fairlead/wire/results";
import { aName, anObject, aString, expectArguments, optional, readMembers, someParts } from "../expect-arguments.ts";
import { displayValue } from "../normalise/content/display.ts";
import { toReadableJson } from "../normalise/content/json-text.ts";
import { type ContentOptions, type ContentResult, fitResult, toParts } from "../normalise/content/parts.ts";
import { createNonce } from "../normalise/content/untrusted.ts";
import type { Part } from "../normalise/model-types.ts";

/** Converts the parts that a `CallableTool` returned. The MCP result is in `functionResponse.response`. */
export function transformMcpContentToParts(
  sdkResponse: readonly Part[],
  options: ContentOptions & { readonly toolName?: string } = {},
): Part[] {
  const call = "transformMcpContentToParts()";
  expectArguments(call, { sdkResponse: [sdkResponse, someParts], options: [options, anObject] });
  const wanted = { toolName: optional(aString), nonce: optional(aName), limits: optional(anObject) };
  const { toolName, nonce = createNonce(), limits } = readMembers(call, options, wanted, "options.");
  const fitted = sdkResponse.map((part) => {
    const name = toolName ?? part.functionResponse?.name ?? "unknown";
    return fitResult(resultOf(part), name, { nonce, limits });
  });
  return toParts(fitted, nonce);
}

/**
 * Returns the result of a `CallableTool` as text for a person, not escaped. One response with only texts gives the
 * joined texts. Anything else gives fenced JSON, with type and size in the place of binary data.
 */
export function getStringifiedResultForDisplay(result: readonly Part[] | null | undefined): string {
  expectArguments("getStringifiedResultForDisplay()", { result: [result ?? [], someParts] });
  const [only, ...others] = (result ?? []).map(shown);
  return displayValue(others.length === 0 ? (only ?? []) : [only, ...others]);
}

/** Returns the joined texts of a response that contains only texts. Otherwise returns the value to show as JSON. */
function shown(part: Part): unknown {
  const { functionResponse } = part;
  if (functionResponse === undefined) return part;
  const content: unknown = functionResponse.response?.["content"];
  if (!Array.isArray(content)) return functionResponse;
  const texts = content.map((item) => stringOf(member(item, "text")));
  return texts.every((text) => text !== undefined) ? texts.join("") : content;
}

/**
 * Whether the tool reports an error: with `isError` as in MCP, with `error.isError` as early servers do, or with
 * `error` as in the Gemini API.
 */
export function isToolError(parts: readonly Part[]): boolean {
  return parts.some((part) => resultOf(part).isError);
}

function resultOf(part: Part): ContentResult {
  const response = part.functionResponse?.response;
  if (response === undefined) return normaliseToolResult({ content: [toBlock(part)] });
  const { content } = response;
  const result = normaliseToolResult({ ...response, content: Array.isArray(content) ? content.map(toBlock) : content });
  const isError = result.isError || isErrorOfApi(response["error"]);
  if (Array.isArray(content) || result.content.length > 0 || result.structuredContent !== undefined)
    return { ...result, isError };
  // The response is not an MCP result, so the whole response is the output.
  return { content: [{ type: "text", text: toReadableJson(response) }], isError };
}

/** Whether `error` is an error as in the Gemini API: a non-empty value without the member `isError`. */
function isErrorOfApi(error: unknown): boolean {
  return Boolean(error) && !(isObject(error) && "isError" in error);
}

/** Returns an item as a content block. A part of the Gemini API, which has no `type`, is converted to a block. */
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
