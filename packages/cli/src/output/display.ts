/** A tool's answer for a person's eyes: text as text, bytes as a description, data as JSON when there is nothing else. */

import type { CallResult } from "@fairlead/core/execute/call-tool";
import { joinSafe, type SafeText, safe, toSafeJson, toSafeLine, toSafeText } from "@fairlead/core/text/safe-text";
import type { ContentBlock } from "../content-block.ts";

/** `paths`: where the bytes of a block went, if they were saved. */
export function display(
  blocks: readonly ContentBlock[],
  paths: ReadonlyMap<ContentBlock, string>,
  { structuredContent }: Pick<CallResult, "structuredContent">,
): SafeText {
  if (blocks.length === 0) return structuredContent === undefined ? safe`` : toSafeJson(structuredContent);
  return joinSafe(blocks.map((block) => displayBlock(block, paths.get(block))));
}

function displayBlock(block: ContentBlock, path: string | undefined): SafeText {
  switch (block.kind) {
    case "text":
      // The line's own end is added when it is printed.
      return toSafeText(block.text.replace(/\r?\n$/, ""));
    case "media": {
      const words = safe`[${toSafeLine(block.what)} ${toSafeLine(block.mimeType)}, ${sizeWords(Buffer.byteLength(block.data, "base64"))}]`;
      return path === undefined ? words : safe`${words} saved as ${toSafeLine(path)}`;
    }
    case "link":
      return safe`Resource Link: ${toSafeLine(block.name)} at ${toSafeLine(block.uri)}`;
    case "unknown":
      return safe`[content of the unknown type "${toSafeLine(block.type)}"]`;
  }
}

const units = ["kB", "MB", "GB"];

export function sizeWords(bytes: number): SafeText {
  if (bytes < 1000) return safe`${bytes} B`;
  const unit = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return toSafeLine(`${(bytes / 1000 ** unit).toFixed(1)} ${units[unit - 1]}`);
}
