/**
 * Converts a tool's result to text for the user. The text is not escaped: the caller must escape it before printing.
 */

import type { Block } from "@fairlead/wire";
import { textIn } from "@fairlead/wire/json";
import { toSafeJson, toSafeLine } from "../../text/safe-text.ts";
import { bytesText, toReadableJson } from "./json-text.ts";

/**
 * Returns a server's result as text, with each block on its own lines. If there are no blocks, returns the structured
 * content as fenced JSON.
 */
export function displayOf(content: readonly Block[], structuredContent?: unknown): string {
  if (content.length === 0) return displayValue(structuredContent ?? []);
  return content
    .map((block, at) => (at < content.length - 1 ? withoutLineEnd(blockText(block)) : blockText(block)))
    .join("\n");
}

/**
 * Returns a server's result as `fairlead call` prints it: each block on its own lines. If there are no blocks, returns
 * the structured content as JSON.
 */
export function plainDisplay(content: readonly Block[], structuredContent?: unknown): string {
  if (content.length > 0) return displayOf(content);
  return structuredContent === undefined ? "" : toSafeJson(structuredContent);
}

/**
 * Returns one block as text. Binary data becomes a note with its type and size, and an unknown block a note with its
 * type.
 */
export function blockText(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return bytesText(`${block.type} ${toSafeLine(block.mimeType)}`, block.data);
    case "resource_link":
      return `Resource Link: ${toSafeLine(block.title || block.name)} at ${toSafeLine(block.uri)}`;
    case "resource": {
      const { text, blob, mimeType = "application/octet-stream" } = block.resource;
      return text ?? (blob === undefined ? unknownText(block) : bytesText(`resource ${toSafeLine(mimeType)}`, blob));
    }
    case "unknown":
      return unknownText(block.raw);
  }
}

/** Removes the last line break, because printing adds one. */
export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, "");
}

function unknownText(raw: unknown): string {
  return `[content of the unknown type "${toSafeLine(textIn(raw, "type") ?? "")}"]`;
}

/** Returns a text unchanged, and any other value as fenced JSON, with type and size in the place of binary data. */
export function displayValue(value: unknown): string {
  return typeof value === "string" ? value : `\`\`\`json\n${toReadableJson(value, 2)}\n\`\`\``;
}
