/** Checks content blocks of tool and prompt results. Unknown and invalid blocks get the type `unknown`. */

import type { JsonObject } from "../session.ts";
import { excerpt, isObject, stringOf } from "./json.ts";

/** The contents of a resource: `text`, or `blob` in Base64. Neither is set if the server sent neither. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
  readonly meta?: JsonObject;
}

/** Members that every content block may have. */
export interface Annotated {
  readonly annotations?: JsonObject;
  readonly meta?: JsonObject;
}

/** One content block of a tool result or a prompt message. */
export type Block =
  | ({ readonly type: "text"; readonly text: string } & Annotated)
  | ({ readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string } & Annotated)
  | ({ readonly type: "resource"; readonly resource: ResourceContents } & Annotated)
  | ({
      readonly type: "resource_link";
      readonly uri: string;
      readonly name: string;
      readonly title?: string;
      readonly description?: string;
      readonly mimeType?: string;
      readonly size?: number;
    } & Annotated)
  /** An invalid block, or a block of an unknown type. `raw` is what the server sent. */
  | { readonly type: "unknown"; readonly raw: unknown };

const unnamedType = "application/octet-stream";

/** Returns the content of a result as blocks. Adds a sentence to `notes` for each mistake in the content. */
export function blocksOf(content: unknown, notes: string[]): Block[] {
  if (Array.isArray(content)) return content.map((block: unknown) => blockOf(block, notes));
  if (content === undefined || content === null) {
    notes.push(content === null ? "the content is null" : "content is missing");
    return [];
  }
  notes.push("the content is not a list");
  return [blockOf(content, notes)];
}

/** Returns one block. Adds a sentence to `notes` if the block is invalid. */
export function blockOf(raw: unknown, notes: string[]): Block {
  if (typeof raw === "string") {
    notes.push("a content block is a string");
    return { type: "text", text: raw };
  }
  const block = isObject(raw) ? knownBlockOf(raw) : undefined;
  if (block !== undefined) return block;
  const type = isObject(raw) ? raw["type"] : undefined;
  notes.push(`a content block of type ${excerpt(type, 60)} is unknown or invalid`);
  return { type: "unknown", raw };
}

function knownBlockOf(raw: JsonObject): Block | undefined {
  const { text, data, resource, uri, name, size } = raw;
  // Most blocks are text without annotations. This path avoids the slow spread.
  if (raw["type"] === "text" && raw["annotations"] === undefined && raw["_meta"] === undefined)
    return typeof text === "string" ? { type: "text", text } : undefined;
  const annotated = annotatedOf(raw);
  switch (raw["type"]) {
    case "text":
      return typeof text === "string" ? { type: "text", text, ...annotated } : undefined;
    case "image":
    case "audio":
      if (typeof data !== "string") return undefined;
      return { type: raw["type"], data, mimeType: stringOf(raw["mimeType"]) ?? unnamedType, ...annotated };
    case "resource": {
      const contents = contentsOf(resource);
      return contents && { type: "resource", resource: contents, ...annotated };
    }
    case "resource_link":
      if (typeof uri !== "string") return undefined;
      return {
        type: "resource_link",
        uri,
        name: stringOf(name) ?? uri,
        ...strings(raw, ["title", "description", "mimeType"]),
        size: typeof size === "number" ? size : undefined,
        ...annotated,
      };
  }
  return undefined;
}

/** Returns the contents of a resource, or undefined if `uri` is missing. */
export function contentsOf(raw: unknown): ResourceContents | undefined {
  if (!isObject(raw) || typeof raw["uri"] !== "string") return undefined;
  const { uri, text, blob } = raw;
  const body = typeof text === "string" ? { text } : typeof blob === "string" ? { blob } : {};
  return { uri, ...strings(raw, ["mimeType"]), ...body, ...metaOf(raw) };
}

/** Returns `{ meta }` with the object's `_meta`, or `{}` if it has none. */
export function metaOf(raw: JsonObject): { meta?: JsonObject } {
  return isObject(raw["_meta"]) ? { meta: raw["_meta"] } : {};
}

function annotatedOf(raw: JsonObject): Annotated {
  return { annotations: isObject(raw["annotations"]) ? raw["annotations"] : undefined, ...metaOf(raw) };
}

function strings<K extends string>(raw: JsonObject, keys: readonly K[]): { readonly [key in K]?: string } {
  const found: { [key in K]?: string } = {};
  for (const key of keys) {
    const value = raw[key];
    if (typeof value === "string") found[key] = value;
  }
  return found;
}
