/** Writes results as text, for models' APIs that take text where Gemini takes an object or any media. Pure. */

import type { Part } from "../normalise/model-types.ts";
import { writeJson } from "../text/deep-json.ts";
import { sizeWords } from "../text/size-words.ts";

export function responseText(response: Record<string, unknown>): string {
  const { output, error } = response;
  if (typeof output === "string") return output;
  if (typeof error === "string") return `Error: ${error}`;
  return writeJson(output ?? response);
}

/** The text for media that the API does not accept. */
export function mediaNote({ mimeType, data = "" }: NonNullable<Part["inlineData"]>): string {
  const size = sizeWords(Buffer.byteLength(data, "base64"));
  return `[${mimeType || "application/octet-stream"}, ${size}: cannot be shown to this model]`;
}
