/** A result as text for a person: plain if it is all text, else as JSON. Raw; whoever prints it makes it safe. */

import type { Block } from "@fairlead/wire";
import type { Part } from "../model-types.ts";
import { toReadableJson } from "./json-text.ts";

/** The parts that a `CallableTool` gave, as text for a person; fenced `[]` for none. Not safe for a terminal yet. */
export function getStringifiedResultForDisplay(parts: readonly Part[] | null | undefined): string {
  const [only, ...others] = (parts ?? []).map(shown);
  return display(others.length === 0 ? (only ?? []) : [only, ...others]);
}

/** What a server gave. */
export function displayOf(content: readonly Block[], structuredContent?: unknown): string {
  if (content.length === 0) return display(structuredContent ?? []);
  const blocks = content.map((block) => (block.type === "unknown" ? block.raw : block));
  return display(joined(blocks) ?? blocks);
}

function display(value: unknown): string {
  return typeof value === "string" ? value : `\`\`\`json\n${toReadableJson(value, 2)}\n\`\`\``;
}

/** Its texts, if it has nothing else; otherwise what is worth looking at. */
function shown(part: Part): unknown {
  const { functionResponse } = part;
  if (functionResponse === undefined) return joined([part]) ?? part;
  const content: unknown = functionResponse.response?.["content"];
  return Array.isArray(content) ? (joined(content) ?? content) : functionResponse;
}

/** Undefined if not all of it is text. */
function joined(items: readonly unknown[]): string | undefined {
  const texts = items.map(textOf);
  return texts.every((text) => text !== undefined) ? texts.join("") : undefined;
}

function textOf(item: unknown): string | undefined {
  const isText = typeof item === "object" && item !== null && "text" in item && typeof item.text === "string";
  return isText ? String(item.text) : undefined;
}
