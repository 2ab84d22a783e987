import { scaled } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { writeJson } from "../../src/text/deep-json.ts";

const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));

test.each([0, 2])("what can be written is written, with an indentation of %i", (indent) => {
  const value = { a: [1, { b: null }], deep: nested(500) };
  expect(writeJson(value, indent)).toBe(JSON.stringify(value, undefined, indent));
});

test("what is nested too deeply is described in its place, and the rest is there", () => {
  const { deep, ...rest } = JSON.parse(writeJson({ deep: nested(100_000), a: 1, ["__proto__"]: 2 }, 2));
  expect(rest).toEqual({ a: 1, ["__proto__"]: 2 });
  expect(JSON.stringify(deep)).toBe(`${"[".repeat(99)}"(nested too deeply to show)"${"]".repeat(99)}`);
});

test("what has no room for its indentation is written without", () => {
  // The longest text that there can be takes its time: with `--long` it is tried, else what the engine would say.
  let attempts = 0;
  const fullTwice = (key: string, value: unknown): unknown => {
    if (key === "") attempts += 1;
    if (attempts < 3) throw new RangeError("Invalid string length");
    return value;
  };
  const isWhole = scaled(10) === 10;
  const wide = Array.from({ length: isWhole ? 550_000 : 5 }, () => 0);
  const value = Array.from({ length: 98 }).reduce<unknown>((inner) => [inner], wide);
  expect(writeJson(value, 10, isWhole ? undefined : fullTwice) === JSON.stringify(value)).toBe(true);
});

test("what cannot be JSON for another reason is an error", () => {
  expect(() => writeJson({ big: 1n })).toThrow(TypeError);
});
