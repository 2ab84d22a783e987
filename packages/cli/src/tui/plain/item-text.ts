/** Formats a transcript item as lines that are printed once and never redrawn. */

import { joinSafe, type SafeText, toSafeText } from "@fairlead/core/text/safe-text";
import type { TranscriptItem } from "../state/transcript.ts";
import { callCardLines } from "../view/call-card-lines.ts";
import { itemLines } from "../view/item-lines.ts";
import type { Line } from "../view/line.ts";
import { markdownLines } from "../view/markdown/markdown-lines.ts";
import { plainText } from "./plain-line.ts";

/** Returns the styled lines of an item, at most `width` columns wide. */
export function linesOf(item: TranscriptItem, width: number): readonly Line[] {
  if (item.kind === "answer") return markdownLines(item.text, width);
  // Passes the start time as `now`, so that no elapsed time is shown. A printed line cannot be updated.
  return item.kind === "call" ? callCardLines(item.call, item.call.startedAt ?? 0, width) : itemLines(item, width);
}

/** Returns the item as plain text, without box-drawing characters and styles. */
export function itemText(item: TranscriptItem, width: number): SafeText {
  return joinSafe(linesOf(item, width).map((line) => toSafeText(plainText(line))));
}
