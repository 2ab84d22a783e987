/** Content blocks of results, as saving and drawing need them. */

import type { CallResult } from "@fairlead/core/execute/call-result";

export type ResultBlock = CallResult["content"][number];

/** Binary content in base64. */
export interface Media {
  readonly what: "image" | "audio" | "resource";
  readonly mimeType: string;
  readonly data: string;
}

/** Returns a block's binary content; undefined for a block without any. */
export function mediaOf(block: ResultBlock): Media | undefined {
  if (block.type === "image" || block.type === "audio")
    return { what: block.type, mimeType: block.mimeType, data: block.data };
  if (block.type !== "resource") return undefined;
  const { text, blob, mimeType = "application/octet-stream" } = block.resource;
  return text === undefined && blob !== undefined ? { what: "resource", mimeType, data: blob } : undefined;
}

/** Returns the blocks as the server sent them, including unknown types. */
export function contentDocument(content: readonly ResultBlock[]): readonly unknown[] {
  return content.map((block) => (block.type === "unknown" ? block.raw : block));
}
