/** What a tool sent back, block by block, as far as showing and saving it needs to tell them apart. */

import type { CallResult } from "@fairlead/core/execute/call-result";

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

type Block = CallResult["content"][number];

export function toBlocks(content: readonly Block[]): readonly ContentBlock[] {
  return content.map(toBlock);
}

function toBlock(block: Block): ContentBlock {
  switch (block.type) {
    case "text":
      return { kind: "text", text: block.text };
    case "image":
    case "audio":
      return { kind: "media", what: block.type, mimeType: block.mimeType, data: block.data };
    case "resource_link":
      return { kind: "link", name: block.title ?? block.name, uri: block.uri };
    case "resource": {
      const { text, blob, mimeType = "application/octet-stream" } = block.resource;
      if (text !== undefined) return { kind: "text", text };
      return blob === undefined
        ? { kind: "unknown", type: block.type }
        : { kind: "media", what: "resource", mimeType, data: blob };
    }
    case "unknown":
      return { kind: "unknown", type: typeOf(block.raw) };
  }
}

function typeOf(raw: unknown): string {
  return typeof raw === "object" && raw !== null && "type" in raw ? String(raw.type) : "";
}

/** As the server sent it, also what we do not know. */
export function toDocument(content: readonly Block[]): readonly unknown[] {
  return content.map((block) => (block.type === "unknown" ? block.raw : block));
}
