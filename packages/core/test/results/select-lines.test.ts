import { seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { grepLines, queryResult, selectLines } from "../../src/results/result-query.ts";

const tokens = 1_000_000;

test.each([
  [{ tokens }, { text: "a\nb\r\nc", first: 1, last: 3, total: 3 }],
  [
    { tokens, from: 2, lines: 1 },
    { text: "b\r\n", first: 2, last: 2, total: 3 },
  ],
  [
    { tokens, from: -1 },
    { text: "c", first: 3, last: 3, total: 3 },
  ],
  [
    { tokens, from: -9, lines: 1 },
    { text: "a\n", first: 1, last: 1, total: 3 },
  ],
  [
    { tokens, from: 0, lines: 1 },
    { text: "a\n", first: 1, last: 1, total: 3 },
  ],
  [
    { tokens, from: 4 },
    { text: "", first: 0, last: 0, total: 3 },
  ],
  [{ tokens: 4 }, { text: "a\nb\r\n", first: 1, last: 2, total: 3 }],
  [{ tokens: 0 }, { text: "a\n", first: 1, last: 1, total: 3 }],
])("lines by %j", (wish, expected) => {
  expect(selectLines("a\nb\r\nc", wish)).toEqual(expected);
});

test("matching lines have the numbers by which they can be read", () => {
  const text = `one\nTwo\nx${"y".repeat(4_000)}\ntwo and two\n`;
  expect(grepLines(text, "two", { tokens })).toEqual({ text: "6: two and two\n", first: 1, last: 1, total: 1 });
  expect(selectLines(text, { from: 6, tokens }).text).toBe("two and two\n");
  expect(grepLines(text, "o", { from: 2, lines: 1, tokens })).toMatchObject({ text: "2: Two\n", total: 3 });
  expect(grepLines(text, ".*", { tokens })).toEqual({ text: "", first: 0, last: 0, total: 0 });
});

test("every text can be read back in parts, whatever its lines are", () => {
  const piece = fc.oneof(fc.constant("\n"), fc.string({ unit: "grapheme" }), fc.constant("🙂".repeat(1_500)));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 500 }), (pieces, most) => {
      const text = pieces.join("");
      let read = "";
      for (let from = 1; ; ) {
        const selected = selectLines(text, { from, tokens: most });
        read += selected.text;
        if (selected.last >= selected.total) break;
        from = selected.last + 1;
      }
      expect(read).toBe(text);
    }),
    { numRuns: 200, seed: seed() },
  );
});

test.each([
  ["items[?id>`1`].name", '"b"\n"c"'],
  ["items[0]", '{\n "id": 1,\n "name": "a"\n}'],
  ["items[1].name", "b"],
  ["none", "null"],
  ["length(items)", "3"],
  ["constructor", "null"],
  ["[items[0].id, constructor]", "1\nnull"],
])("jmespath %s", (jmespath, expected) => {
  const items = ["a", "b", "c"].map((name, at) => ({ id: at + 1, name }));
  expect(queryResult(JSON.stringify({ items }), { jmespath, tokens })).toMatchObject({
    kind: "selected",
    text: expected,
  });
});

test("a query without an expression selects lines, and one with a text only the lines that contain it", () => {
  expect(queryResult("a\nb\nab", { tokens, from: 2, lines: 1 })).toEqual({
    kind: "selected",
    text: "b\n",
    first: 2,
    last: 2,
    total: 3,
  });
  expect(queryResult("a\nb\nab", { tokens, grep: "b", from: 2 })).toEqual({
    kind: "selected",
    text: "3: ab\n",
    first: 2,
    last: 2,
    total: 2,
  });
});

test("a query reads and selects ten million characters, but no more", () => {
  const text = `"${"x".repeat(9_999_998)}"`;
  const kindOf = (jmespath: string): string => queryResult(text, { jmespath, tokens: 1, lines: 1 }).kind;
  expect([kindOf("@"), kindOf("[@]")]).toEqual(["selected", "failed"]);
});

test.each([
  ["{}", "][", "arguments_invalid", /^jmespath: (?!failed$)./],
  ["not JSON", "a", "arguments_invalid", /works only on JSON/],
  [`"${"x".repeat(10_000_000)}"`, "@", "too_large", /too large for jmespath/],
  [`"${"あ".repeat(3_333_333)}"`, "@", "too_large", /too large for jmespath/],
  [
    JSON.stringify("あ".repeat(100_000)),
    `[${"@,".repeat(40)}@]`,
    "too_large",
    /the jmespath expression selects too much/,
  ],
  [
    JSON.stringify("x".repeat(100_000)),
    "[@,@]|".repeat(20).slice(0, -1),
    "too_large",
    /the jmespath expression selects too much/,
  ],
])("a query that cannot be answered says why", (text, jmespath, code, message) => {
  expect(queryResult(text, { jmespath, tokens })).toEqual({
    kind: "failed",
    code,
    message: expect.stringMatching(message),
  });
});
