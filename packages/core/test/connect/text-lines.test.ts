import { seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createTextLines } from "../../src/connect/text-lines.ts";

function linesOf(pieces: readonly string[], limit = 10): readonly string[] {
  const lines: string[] = [];
  const splitter = createTextLines({ limit, lines: (more) => lines.push(...more) });
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

test("lines over a rate are counted; the next ones say how many, and the end has the last of them", () => {
  const lines: string[] = [];
  let allowed = 2;
  const rate = { take: (wanted: number): number => Math.min(wanted, allowed) };
  const splitter = createTextLines({ limit: 10, rate, lines: (more) => lines.push(...more) });
  splitter.push("1\n2\n3\n4\nfi");
  expect(lines).toEqual(["1", "2"]);
  allowed = 0;
  splitter.push("ve\n6\n");
  expect(lines).toEqual(["1", "2"]);
  allowed = 1;
  splitter.push("7\n8");
  expect(lines.splice(0)).toEqual(["1", "2", "(4 lines dropped: the server wrote too fast)", "7"]);
  allowed = 0;
  splitter.push("\n9\nten");
  splitter.end();
  expect(lines).toEqual(["8", "9", "ten"]);
});

test("however text is cut into pieces, the lines are the same", () => {
  const text = fc.array(fc.constantFrom("a", "b\n", "\r\n", "0123456789", "\n"));
  const same = fc.property(text, (pieces) => {
    expect(linesOf(pieces)).toEqual(linesOf([pieces.join("")]));
  });
  fc.assert(same, { seed: seed() });
});

test("a line is cut after the limit of 10 characters, and the carriage return at its end is removed", () => {
  expect(linesOf(["0123456789\r\n"])).toEqual(["0123456789"]);
  expect(linesOf(["012345678\r", "\nnext"])).toEqual(["012345678", "next"]);
  expect(linesOf(["01234567890", "a", "b\n"])).toEqual(["0123456789"]);
  expect(linesOf(["0123456789", "\n"])).toEqual(["0123456789"]);
});

test("the reader of the lines is called once for each piece with complete lines, and never without lines", () => {
  const seen: (readonly string[])[] = [];
  let allowed = 0;
  const splitter = createTextLines({
    limit: 10,
    rate: { take: (wanted) => Math.min(wanted, allowed) },
    lines: (more) => seen.push(more),
  });
  splitter.push("1\n2\n");
  splitter.push("");
  expect(seen).toEqual([]);
  allowed = 5;
  splitter.push("3\n4\n");
  splitter.end();
  expect(seen).toEqual([["(2 lines dropped: the server wrote too fast)", "3", "4"]]);
});

test("at the end, the last dropped lines are delivered, without a line that counts them", () => {
  const seen: string[] = [];
  const splitter = createTextLines({ limit: 10, rate: { take: () => 0 }, lines: (more) => seen.push(...more) });
  splitter.push(`${"x".repeat(3999)}\na\nb\n`);
  splitter.end();
  expect(seen).toEqual(["x".repeat(3995), "a", "b"]);
  splitter.end();
  expect(seen).toHaveLength(3);
});
