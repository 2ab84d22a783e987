import { safe } from "@fairlead/core/text/safe-text";
import { createElement } from "react";
import { expect, test } from "vitest";
import { type Line, span } from "../../../src/tui/view/line.ts";
import { Lines } from "../../../src/tui/view/lines.tsx";
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
