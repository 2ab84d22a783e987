/** Text items of the transcript as lines. Pure. */

import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { typedHere } from "../slash/typed-here.ts";
import type { NoteTone, TranscriptItem } from "../state/transcript.ts";
import { breakLine, type Colour, type Line, span, wrapLine } from "./line.ts";
import { indentedLines, outputLines, readingLines } from "./text-lines.ts";

export type TextKind = Exclude<TranscriptItem, { readonly kind: "answer" | "call" }>;

export function itemLines(item: TextKind, width: number): readonly Line[] {
  switch (item.kind) {
    case "person":
      return [
        ...marked(safe`› `, outputLines(item.text, width - 2, { isBold: true })),
        ...item.attachments.flatMap((name) =>
          marked(safe`  `, breakLine([span(safe`with ${toSafeLine(name)}`, { isDim: true })], width - 2)),
        ),
      ];
    case "thought":
      return marked(safe`~ `, readingLines(item.text.trim(), width - 2, { isDim: true, isItalic: true }));
    case "note": {
      const { word, colour } = tones[item.tone];
      const [first = [], ...rest] = readingLines(`${word}${item.text}`, width);
      return [
        first.map((each) => ({ ...each, ...(colour && { colour }) })),
        ...rest,
        ...(item.next === undefined ? [] : readingLines(`  ${typedHere(item.next)}`, width, { isDim: true })),
      ];
    }
    case "output":
      return [
        ...wrapLine([span(toSafeLine(item.title), { isBold: true })], width),
        ...indentedLines(item.text.trimEnd(), width),
      ];
  }
}

const tones: Readonly<Record<NoteTone, { readonly word: string; readonly colour?: Colour }>> = {
  info: { word: "" },
  warning: { word: "warning: ", colour: "yellow" },
  error: { word: "error: ", colour: "red" },
};

function marked(mark: SafeText, lines: readonly Line[]): readonly Line[] {
  return lines.map((line, at) => [span(at === 0 ? mark : safe`  `, { isDim: true }), ...line]);
}
