/** What a tool sent back, block by block: foreign JSON becomes a tagged union once. */

import type { CallResult } from "@fairlead/core/execute/call-tool";

export type ContentBlock =
  | { readonly kind: "text"; readonly text: string }
  | Media
  | { readonly kind: "link"; readonly name: string; readonly uri: string }
  | { readonly kind: "unknown"; readonly type: string };

/** Bytes in base64. */
export interface Media {
  readonly kind: "media";
  readonly what: "image" | "audio" | "resource";
  readonly mimeType: string;
  readonly data: string;
}

export function toBlocks(content: CallResult["content"]): readonly ContentBlock[] {
  return content.map((block) => toBlock(new Map(Object.entries(block))));
}

function toBlock(fields: ReadonlyMap<string, unknown>): ContentBlock {
  const type = text(fields, "type") ?? "";
  const unknown: ContentBlock = { kind: "unknown", type };
  switch (type) {
    case "text":
      return textBlock(fields) ?? unknown;
    case "image":
    case "audio":
      return mediaBlock(type, fields, "data") ?? unknown;
    case "resource_link": {
      const uri = text(fields, "uri");
      return uri === undefined
        ? unknown
        : { kind: "link", name: text(fields, "title") ?? text(fields, "name") ?? uri, uri };
    }
    case "resource": {
      const resource = fields.get("resource");
      const inner = new Map<string, unknown>(
        typeof resource === "object" && resource !== null ? Object.entries(resource) : [],
      );
      return textBlock(inner) ?? mediaBlock("resource", inner, "blob") ?? unknown;
    }
    default:
      return unknown;
  }
}

function textBlock(fields: ReadonlyMap<string, unknown>): ContentBlock | undefined {
  const words = text(fields, "text");
  return words === undefined ? undefined : { kind: "text", text: words };
}

function mediaBlock(what: Media["what"], fields: ReadonlyMap<string, unknown>, key: string): Media | undefined {
  const data = text(fields, key);
  const mimeType = text(fields, "mimeType") ?? "application/octet-stream";
  return data === undefined ? undefined : { kind: "media", what, mimeType, data };
}

function text(fields: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = fields.get(name);
  return typeof value === "string" ? value : undefined;
}
