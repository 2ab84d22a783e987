import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "../../src/text/canonical-json.ts";

test.each([
  [{ b: 1, a: [{ d: null, c: "x" }] }, '{"a":[{"c":"x","d":null}],"b":1}'],
  [{ a: undefined, b: [undefined] }, '{"b":[null]}'],
  [JSON.parse('{"__proto__": {"z": 1}, "constructor": 2}'), '{"__proto__":{"z":1},"constructor":2}'],
  [[], "[]"],
  [{}, "{}"],
  [undefined, "null"],
  ['"\ud800', '"\\"\\ud800"'],
])("%j", (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

test("it is JSON of the same value, and the same for members in another order", () => {
  const turned = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(turned);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, member]) => [name, turned(member)]),
    );
  };
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value));
      expect(JSON.parse(canonicalJson(plain))).toEqual(plain);
      expect(canonicalJson(turned(plain))).toBe(canonicalJson(plain));
    }),
    { numRuns: scaled(5000), seed: seed() },
  );
});

test("many names are sorted like few names", () => {
  for (const count of [15, 16, 17, 40]) {
    const names = Array.from({ length: count }, (_, at) => `n${String(at).padStart(2, "0")}`);
    const members = [...names].reverse().map((name) => [name, name] as const);
    expect(canonicalJson(Object.fromEntries(members))).toBe(
      `{${names.map((name) => `"${name}":"${name}"`).join(",")}}`,
    );
  }
});

test.each([99, 100, 101, 200])("a value below %i levels is written like one at the top", (levels) => {
  const value = { b: [undefined, null, 1, "x", [], {}], a: undefined, c: { z: true, y: [[2], { k: 3 }] }, "": "" };
  const text = '{"":"","b":[null,null,1,"x",[],{}],"c":{"y":[[2],{"k":3}],"z":true}}';
  const within = Array.from({ length: levels }).reduce<unknown>((inner) => [0, inner, 1], value);
  expect(canonicalJson(within)).toBe(`${"[0,".repeat(levels)}${text}${",1]".repeat(levels)}`);
});

test("no depth is too much", () => {
  const deep = `${'[{"a":'.repeat(100_000)}1${"}]".repeat(100_000)}`;
  expect(canonicalJson(JSON.parse(deep)) === deep).toBe(true);
});
