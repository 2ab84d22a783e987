/** A tool's answer for a person's eyes: its blocks as everywhere, with the files they went into and the pictures; data as JSON when there is nothing else. */

import type { CallResult } from "@fairlead/core/execute/call-result";
import { blockText, withoutLineEnd } from "@fairlead/core/normalise/content/display";
import { joinSafe, type SafeText, safe, toSafeJson, toSafeLine, toSafeText } from "@fairlead/core/text/safe-text";
import { mediaOf, type ResultBlock } from "../../shell/content-block.ts";
import type { DrawImage } from "./inline-image.ts";

export interface DisplayOptions {
  /** Where the bytes of a block went, if they were saved. */
  readonly paths?: ReadonlyMap<ResultBlock, string>;
  /** For a terminal that can show pictures. */
  readonly draw?: DrawImage | undefined;
}

export function display(
  blocks: readonly ResultBlock[],
  { structuredContent }: Pick<CallResult, "structuredContent">,
  options: DisplayOptions = {},
): SafeText {
  if (blocks.length === 0) return structuredContent === undefined ? safe`` : toSafeJson(structuredContent);
  return joinSafe(blocks.map((block) => displayBlock(block, options)));
}

function displayBlock(block: ResultBlock, { paths, draw }: DisplayOptions): SafeText {
  const words = toSafeText(withoutLineEnd(blockText(block)));
  const path = paths?.get(block);
  const told = path === undefined ? words : safe`${words} saved as ${toSafeLine(path)}`;
  const media = mediaOf(block);
  const picture = media && draw?.(media);
  return picture === undefined ? told : safe`${picture}\n${told}`;
}
