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
  expect(JSON.stringify(deep)).toBe(`${"[".repeat(99)}"(nested too deeply to be shown)"${"]".repeat(99)}`);
});

test("what has no room for its indentation is written without", () => {
  const wide = Array.from({ length: 3_000_000 }, () => 0);
  const value = Array.from({ length: 90 }).reduce<unknown>((inner) => [inner], wide);
  expect(writeJson(value, 2).length).toBe(JSON.stringify(value).length);
});

test("what cannot be JSON for another reason is an error", () => {
  expect(() => writeJson({ big: 1n })).toThrow(TypeError);
});
