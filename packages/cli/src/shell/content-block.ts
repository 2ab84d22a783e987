/** What a tool sent back, block by block, as far as saving and drawing it needs to tell them apart. */

import type { CallResult } from "@fairlead/core/execute/call-result";

export type ResultBlock = CallResult["content"][number];

/** Bytes in base64. */
export interface Media {
  readonly what: "image" | "audio" | "resource";
  readonly mimeType: string;
  readonly data: string;
}

/** Undefined for a block that holds no bytes. */
export function mediaOf(block: ResultBlock): Media | undefined {
  if (block.type === "image" || block.type === "audio")
    return { what: block.type, mimeType: block.mimeType, data: block.data };
  if (block.type !== "resource") return undefined;
  const { text, blob, mimeType = "application/octet-stream" } = block.resource;
  return text === undefined && blob !== undefined ? { what: "resource", mimeType, data: blob } : undefined;
}

/** As the server sent it, also what we do not know. */
export function contentDocument(content: readonly ResultBlock[]): readonly unknown[] {
  return content.map((block) => (block.type === "unknown" ? block.raw : block));
}
