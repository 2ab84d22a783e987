/** Formats an item of the transcript as lines, for output that is printed once. Pure functions. */

import { joinSafe, type SafeText, toSafeText } from "@fairlead/core/text/safe-text";
import type { TranscriptItem } from "../state/transcript.ts";
import { callCardLines } from "../view/call-card-lines.ts";
import { itemLines } from "../view/item-lines.ts";
import type { Line } from "../view/line.ts";
import { markdownLines } from "../view/markdown/markdown-lines.ts";
import { plainText } from "./plain-line.ts";

export function linesOf(item: TranscriptItem, width: number): readonly Line[] {
  if (item.kind === "answer") return markdownLines(item.text, width);
  // The elapsed time is not shown, because a printed line cannot be updated.
  return item.kind === "call" ? callCardLines(item.call, item.call.startedAt ?? 0, width) : itemLines(item, width);
}

/** Returns the item as text without box-drawing characters. */
export function itemText(item: TranscriptItem, width: number): SafeText {
  return joinSafe(linesOf(item, width).map((line) => toSafeText(plainText(line))));
}
