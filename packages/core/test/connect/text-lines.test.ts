import { seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createTextLines } from "../../src/connect/traffic-log.ts";

function linesOf(pieces: readonly string[], limit = 10): readonly string[] {
  const lines: string[] = [];
  const splitter = createTextLines(limit, (line) => lines.push(line));
  for (const piece of pieces) splitter.push(piece);
  splitter.end();
  return lines;
}

test.each([
  [["one\ntwo\r\n"], ["one", "two"]],
  [
    ["o", "n", "e\n\nt", "wo"],
    ["one", "", "two"],
  ],
  [[], []],
  [["0123456789\n"], ["0123456789"]],
  [["0123456789x\nnext\n"], ["0123456789", "next"]],
  [
    ["01234", "56789", "over", "and over", "\nnext"],
    ["0123456789", "next"],
  ],
])("%j: %j", (pieces, lines) => {
  expect(linesOf(pieces)).toEqual(lines);
});

test("however text is cut into pieces, the lines are the same", () => {
  const text = fc.array(fc.constantFrom("a", "b\n", "\r\n", "0123456789", "\n"));
  const same = fc.property(text, (pieces) => {
    expect(linesOf(pieces)).toEqual(linesOf([pieces.join("")]));
  });
  fc.assert(same, { seed: seed() });
});
