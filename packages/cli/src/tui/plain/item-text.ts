/** An item of the transcript as lines, for output that is printed once. Pure. */

import { joinSafe, type SafeText, toSafeText } from "@fairlead/core/text/safe-text";
import type { TranscriptItem } from "../state/transcript.ts";
import { callCardLines } from "../view/call-card-lines.ts";
import { itemLines } from "../view/item-lines.ts";
import type { Line } from "../view/line.ts";
import { markdownLines } from "../view/markdown/markdown-lines.ts";
import { plainText } from "./plain-line.ts";

export function linesOf(item: TranscriptItem, width: number): readonly Line[] {
  if (item.kind === "answer") return markdownLines(item.text, width);
  // The time is not shown, because nothing is drawn again.
  return item.kind === "call" ? callCardLines(item.call, item.call.startedAt ?? 0, width) : itemLines(item, width);
}

/** The item as text without box drawing. */
export function itemText(item: TranscriptItem, width: number): SafeText {
  return joinSafe(linesOf(item, width).map((line) => toSafeText(plainText(line))));
}
