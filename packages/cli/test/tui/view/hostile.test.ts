import { withoutColours } from "@fairlead/core/text/model-text";
import { hasUnseen } from "@fairlead/core/text/unseen";
import { scaled } from "@fairlead/test-servers";
import { Box } from "ink";
import { createElement } from "react";
import { describe, expect, test } from "vitest";
import { openDialog } from "../../../src/tui/state/dialog.ts";
import { dialogLines } from "../../../src/tui/view/dialogs/dialog-frame.ts";
import { lineColumns } from "../../../src/tui/view/line.ts";
import { Lines } from "../../../src/tui/view/lines.tsx";
import { TranscriptItemView } from "../../../src/tui/view/transcript-item.tsx";
import { draw } from "../../support/tui/drawn.ts";
import { itemsOf, questionsOf } from "../../support/tui/samples.ts";

const texts: readonly (readonly [what: string, text: string])[] = [
  [
    "controls: moves of the cursor, links, the clipboard, titles, C1",
    "\u001b[2J\u001b[H\u001b[10A\u001b[31mredrawn\r\u0008x\u001b]8;;https://evil.example\u0007here\u001b]8;;\u0007\u001b]52;c;aGk=\u0007\u001b]0;t\u001b\\\u009b2J\u0090q\u009c\u0085",
  ],
  [
    "what is not seen, or turns things around",
    `\u202egnp.exe\u202c \u2066x\u2069 \u200fشكرا ${"\u{e0041}".repeat(30)}\u200b\ufeffb\u00ad e${"\u0301".repeat(100)} \ud800 \udfff`,
  ],
  ["wide characters and joined pictures", `${"中文".repeat(24)}${"👩‍👩‍👧🇩🇪👍🏽❤️".repeat(12)}`],
  ["a very long line, and very many blanks", `${"x".repeat(scaled(2000, 1400))}${" ".repeat(scaled(8000, 200))}b`],
  ["a frame of its own", "\n╭─ github: run rm?\n│ server   trusted\n╰─ y yes, once\n"],
  ["entities and markup", "&#27;[2J &#x9b;2J <b>\u001b[1m</b> [a](\u001b[2J) `\u001b[3J` \u2028\u2029"],
];
const sizes = [20, 80];
/** Rows of the title, the keys, one row of text and one that says that there is more. */
const smallest = 12;
/** Colours and the like are Ink's own; nothing else may be there that does something instead of being seen. */
function check(written: string): void {
  expect(hasUnseen(withoutColours(written).replaceAll("\n", ""))).toBe(false);
}

/** Every text is drawn at one of the widths, and at all of them with `--long`. */
const drawings = texts.map(([what, text], at) => {
  const widths = (from: number): readonly number[] => sizes.filter((_, size) => (size + from) % scaled(1, 2) === 0);
  return { what, text, questions: widths(at), transcript: widths(at + 1) };
});

describe.each(drawings)("$what", ({ text, questions, transcript }) => {
  test.each(questions)("leave every question in its frame, %i columns wide", async (width) => {
    const room = { width, height: 16 };
    const dialogs = questionsOf(text).map((question) =>
      dialogLines(question, openDialog(question), { index: 1, total: 2 }, room),
    );
    expect(dialogs.filter((lines) => lines.length > Math.max(room.height, smallest))).toEqual([]);
    expect(dialogs.flat().filter((line) => lineColumns(line) > width)).toEqual([]);
    const { written, rows } = await draw(createElement(Lines, { lines: dialogs.flat() }), width);
    check(written);
    // One row of the terminal for each row of ours: nothing was pushed over the edge.
    expect(rows.length).toBe(dialogs.flat().length);
    let from = 0;
    for (const { length } of dialogs) {
      const own = rows.slice(from, from + length);
      from += length;
      expect(own[0]).toMatch(/^╭─ \(1 of 2\)/);
      const keys = own.findIndex((row) => row.startsWith("╰─ "));
      expect(keys).toBeGreaterThan(0);
      for (const row of own.slice(1, keys)) expect(row).toMatch(/^(?:│|├─ |[\x21-\x7e]+$)/);
      for (const row of own.slice(keys + 1)) expect(row).toMatch(/^ {3}/);
    }
  });

  test.each(transcript)("do nothing to the transcript, %i columns wide", async (width) => {
    const items = itemsOf(text).map((item) =>
      createElement(TranscriptItemView, { item, now: 0, width, key: item.key }),
    );
    expect(items.length).toBeGreaterThan(5);
    const { written, rows } = await draw(createElement(Box, { flexDirection: "column" }, ...items), width);
    check(written);
    expect(rows.length).toBe(written.trimEnd().split("\n").length);
  });
});
