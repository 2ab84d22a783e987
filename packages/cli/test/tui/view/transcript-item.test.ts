import { safe } from "@fairlead/core/text/safe-text";
import { createElement } from "react";
import { describe, expect, test } from "vitest";
import type { TranscriptItem } from "../../../src/tui/state/transcript.ts";
import { type Look, LookContext } from "../../../src/tui/view/lines.tsx";
import { TranscriptItemView } from "../../../src/tui/view/transcript-item.tsx";
import { draw } from "../../support/tui/drawn.ts";
import { card } from "../../support/tui/samples.ts";

const text = (count: number): string => Array.from({ length: count }, (_, at) => `row ${at}`).join("\n");
const rows = async (item: TranscriptItem, height?: number, look: Look = { hasColour: false }) => {
  const view = createElement(TranscriptItemView, { item, now: 0, width: 40, ...(height !== undefined && { height }) });
  return (await draw(createElement(LookContext, { value: look }, view), 40)).rows;
};

test.each<[string, TranscriptItem, readonly string[]]>([
  ["a message", { key: "1", kind: "person", text: "hi", attachments: ["a"] }, ["› hi", "  with a"]],
  ["an answer", { key: "1", kind: "answer", text: "# A\n\n- b", isDone: true }, ["A", "", "• b"]],
  ["a thought", { key: "1", kind: "thought", text: "hm", isDone: true }, ["~ hm"]],
  ["a note", { key: "1", kind: "note", tone: "error", text: "x", next: "y" }, ["error: x", "  y"]],
  ["an output", { key: "1", kind: "output", title: "/help", text: "x" }, ["/help", "x"]],
  [
    "a call",
    { key: "1", kind: "call", call: card({ status: "ok", tool: "t", args: {}, display: "x" }) },
    ["✓ github.t done", "  x"],
  ],
])("%s has an empty row above it", async (_, item, expected) => {
  expect(await rows(item)).toEqual(["", ...expected]);
});

describe("an item that is not complete", () => {
  const items: readonly (readonly [string, TranscriptItem])[] = [
    ["answer", { key: "1", kind: "answer", text: `\`\`\`\n${text(9)}\n\`\`\``, isDone: false }],
    ["thought", { key: "1", kind: "thought", text: text(9), isDone: false }],
    ["output", { key: "1", kind: "output", title: "row", text: text(8) }],
  ];

  test.each(items)("of the kind %s is shown whole if it fits", async (_, item) => {
    const shown = await rows(item, 10);
    expect([shown.length, shown.at(-1)?.slice(-5, -1)]).toEqual([10, "row "]);
    expect(shown).toEqual(await rows(item));
  });

  test.each(items)("of the kind %s is shown with its last rows if it does not fit", async (_, item) => {
    const whole = await rows(item);
    expect(await rows(item, 9)).toEqual(["", "… 2 rows above", ...whole.slice(-7)]);
    expect(await rows(item, 4)).toEqual(["", "… 7 rows above", ...whole.slice(-2)]);
    // One row of the item is shown even if there is no room for it.
    expect(await rows(item, 2)).toEqual(["", "… 8 rows above", ...whole.slice(-1)]);
    expect(await rows(item, 0)).toEqual(["", "… 8 rows above", ...whole.slice(-1)]);
  });

  test("such as a call shows its last rows too", async () => {
    const call = card({ status: "running", tool: "t", args: {}, isOpen: true, display: text(9) });
    expect(await rows({ key: "1", kind: "call", call }, 4)).toEqual(["", "… 8 rows above", "  row 7", "  row 8"]);
  });
});

describe("images", () => {
  const media = [
    { mimeType: "image/png", data: "AAAA" },
    { mimeType: "audio/wav", data: "BBBB" },
    { mimeType: "text/image/", data: "CCCC" },
  ];
  const call = card({ status: "ok", tool: "t", args: {}, display: "x", media });
  const drawn = async (item: TranscriptItem, height?: number) => {
    const asked: object[] = [];
    const look: Look = {
      hasColour: false,
      draw(given) {
        asked.push(given);
        return given.what === "image" ? safe`picture` : undefined;
      },
    };
    await rows(item, height, look);
    return asked;
  };

  test("are drawn when the call is complete", async () => {
    expect(await drawn({ key: "1", kind: "call", call })).toEqual([
      { what: "image", mimeType: "image/png", data: "AAAA" },
      { what: "audio", mimeType: "audio/wav", data: "BBBB" },
      { what: "audio", mimeType: "text/image/", data: "CCCC" },
    ]);
    expect(await drawn({ key: "1", kind: "call", call }, 10)).toEqual([]);
    expect(await drawn({ key: "1", kind: "call", call: { ...call, media: [] } })).toEqual([]);
  });

  test("are left out on a terminal that cannot draw them", async () => {
    expect(await rows({ key: "1", kind: "call", call })).toEqual(["", "✓ github.t done", "  x"]);
  });
});

test("highlighting is loaded only for an answer with code of a language", async () => {
  const wanted: string[] = [];
  const highlighter = {
    get: () => undefined,
    want: () => void wanted.push("wanted"),
    subscribe: () => () => undefined,
  };
  const answer = (code: string): TranscriptItem => ({ key: "1", kind: "answer", text: code, isDone: true });
  await rows(answer("no code"), undefined, { hasColour: true, highlighter });
  expect(wanted).toEqual([]);
  expect(await rows(answer("```js\na\n```"), undefined, { hasColour: true, highlighter })).toEqual(["", "┆ js", "┆ a"]);
  expect(wanted).toEqual(["wanted"]);
});
