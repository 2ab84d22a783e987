/** Formats transcript items other than answers and calls as lines. */

import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";
import { typedHere } from "../slash/typed-here.ts";
import type { NoteTone, TranscriptItem } from "../state/transcript.ts";
import { breakLine, type Colour, type Line, span, wrapLine } from "./line.ts";
import { indentedLines, outputLines, readingLines } from "./text-lines.ts";

/** A transcript item other than an answer or a call. */
export type TextKind = Exclude<TranscriptItem, { readonly kind: "answer" | "call" }>;

/** Returns the lines of an item, wrapped to `width` columns. */
export function itemLines(item: TextKind, width: number): readonly Line[] {
  switch (item.kind) {
    case "person":
      return [
        ...marked(safe`› `, typedLines(item.text, width - 2)),
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
        first.map((each) => ({ ...each, colour })),
        ...rest,
        ...(item.next === undefined ? [] : readingLines(`  ${typedHere(item.next)}`, width, { isDim: true })),
      ];
    }
    case "output":
      return [
        ...wrapLine([span(toSafeLine(item.title), { isBold: true })], width),
        ...firstLines(item.text.trimEnd(), mostOutput, (text) => indentedLines(text, width)),
      ];
  }
}

/** The part of a user's message that is shown. Drawing a very long paste would take seconds. */
const mostTyped = { lines: 20, characters: 4000 };
const mostOutput = { lines: 2000, characters: 400_000 };

function typedLines(text: string, width: number): readonly Line[] {
  return firstLines(text, mostTyped, (part) => outputLines(part, width, { isBold: true }));
}

function firstLines(
  text: string,
  most: { readonly lines: number; readonly characters: number },
  draw: (text: string) => readonly Line[],
): readonly Line[] {
  const rows = text.split("\n");
  if (rows.length <= most.lines && text.length <= most.characters) return draw(text);
  const shown = clip(rows.slice(0, most.lines).join("\n"), most.characters);
  const left = rows.length - shown.split("\n").length;
  const words = left > 0 ? safe`… ${left} more ${left === 1 ? safe`line` : safe`lines`}` : safe`… and more`;
  return [...draw(shown), [span(words, { isDim: true })]];
}

const tones: Readonly<Record<NoteTone, { readonly word: string; readonly colour?: Colour }>> = {
  info: { word: "" },
  warning: { word: "warning: ", colour: "yellow" },
  error: { word: "error: ", colour: "red" },
};

function marked(sign: SafeText, lines: readonly Line[]): readonly Line[] {
  return lines.map((line, at) => [span(at === 0 ? sign : safe`  `, { isDim: true }), ...line]);
}
