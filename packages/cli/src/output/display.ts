/** A tool's answer for a person's eyes: text as text, bytes as a description, data as JSON when there is nothing else. */

import type { CallResult } from "@fairlead/core/execute/call-result";
import { joinSafe, type SafeText, safe, toSafeJson, toSafeLine, toSafeText } from "@fairlead/core/text/safe-text";
import type { ContentBlock } from "../content-block.ts";
import type { DrawImage } from "./inline-image.ts";

export interface DisplayOptions {
  /** Where the bytes of a block went, if they were saved. */
  readonly paths?: ReadonlyMap<ContentBlock, string>;
  /** For a terminal that can show pictures. */
  readonly draw?: DrawImage | undefined;
}

export function display(
  blocks: readonly ContentBlock[],
  { structuredContent }: Pick<CallResult, "structuredContent">,
  options: DisplayOptions = {},
): SafeText {
  if (blocks.length === 0) return structuredContent === undefined ? safe`` : toSafeJson(structuredContent);
  return joinSafe(blocks.map((block) => displayBlock(block, options)));
}

function displayBlock(block: ContentBlock, { paths, draw }: DisplayOptions): SafeText {
  switch (block.kind) {
    case "text":
      // The line's own end is added when it is printed.
      return toSafeText(block.text.replace(/\r?\n$/, ""));
    case "media": {
      const words = safe`[${toSafeLine(block.what)} ${toSafeLine(block.mimeType)}, ${sizeWords(Buffer.byteLength(block.data, "base64"))}]`;
      const path = paths?.get(block);
      const told = path === undefined ? words : safe`${words} saved as ${toSafeLine(path)}`;
      const picture = draw?.(block);
      return picture === undefined ? told : safe`${picture}\n${told}`;
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
