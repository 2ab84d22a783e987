/** A tool result as text: its content blocks with images and file names, or structured content as JSON if there are no blocks. */

import type { CallResult } from "@fairlead/core/execute/call-result";
import { blockText, withoutLineEnd } from "@fairlead/core/normalise/content/display";
import { joinSafe, type SafeText, safe, toSafeJson, toSafeLine, toSafeText } from "@fairlead/core/text/safe-text";
import { mediaOf, type ResultBlock } from "../../shell/content-block.ts";
import type { DrawImage } from "./inline-image.ts";

export interface DisplayOptions {
  /** The file of each saved block. */
  readonly paths?: ReadonlyMap<ResultBlock, string>;
  /** Set if the terminal can draw images. */
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
