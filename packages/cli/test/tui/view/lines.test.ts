import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { createElement } from "react";
import { expect, test } from "vitest";
import { type Line, span } from "../../../src/tui/view/line.ts";
import { Lines, LookContext } from "../../../src/tui/view/lines.tsx";
import { indentedLines } from "../../../src/tui/view/text-lines.ts";
import { draw } from "../../support/tui/drawn.ts";

test.each<[string, Line]>([
  ["no spans", []],
  ["one empty span", [span(safe``)]],
  ["several empty spans, one with a style", [span(safe``), span(safe``, { isBold: true })]],
])("a line of %s takes one row", async (_, empty) => {
  const lines = [[span(safe`above`)], empty, [span(safe`below`)]];
  expect((await draw(createElement(Lines, { lines }), 20)).rows).toEqual(["above", "", "below"]);
});

test.each([3, 101])("blank lines in a command's output of %d rows stay", async (count) => {
  const rows = Array.from({ length: count }, (_, at) => (at % 2 === 0 ? `row ${at}` : ""));
  const lines = indentedLines(rows.join("\n"), 20);
  expect((await draw(createElement(Lines, { lines }), 20)).rows).toEqual(rows);
});

test("the cursor is inverse with and without colours", async () => {
  const lines = [
    [span(safe`a`), span(safe`b`, { isInverse: true }), span(safe`c`, { isInverse: false, isBold: true })],
  ];
  const view = createElement(Lines, { lines });
  const { written } = await draw(view, 20);
  expect(written).toBe("a\u001b[7mb\u001b[27mc");
  const look = createElement(LookContext, { value: { hasColour: false } }, view);
  expect((await draw(look, 20)).written).toBe(written);
});

test.each([2, 100])("of %d lines, each takes one row, and one that is too wide is cut", async (count) => {
  const lines = Array.from({ length: count }, (_, at) => [span(toSafeLine(`${at % 10}${"x".repeat(9)}`))]);
  const { rows } = await draw(createElement(Lines, { lines }), 5);
  expect(rows).toEqual(lines.map((_, at) => `${at % 10}xxx…`));
});

test("pieces of a line stand side by side", async () => {
  const lines = [[span(safe`a`, { isBold: true }), span(safe`b`), span(safe`c`, { isDim: true })], [span(safe`d`)]];
  expect((await draw(createElement(Lines, { lines }), 20)).rows).toEqual(["abc", "d"]);
});
