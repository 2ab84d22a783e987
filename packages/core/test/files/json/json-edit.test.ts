import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { getNodeValue } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import { HostError } from "../../../src/errors.ts";
import { removeValue, setValue } from "../../../src/files/json/json-edit.ts";
import { parseJsonc } from "../../../src/files/json/jsonc.ts";
import { documents, names } from "../../support/jsonc-documents.ts";

const randomSeed = seed();
const runs = { numRuns: scaled(10_000, 200), seed: randomSeed };

function read(text: string): unknown {
  const { root, errors } = parseJsonc(text);
  expect(errors).toEqual([]);
  return root === undefined ? undefined : plain(getNodeValue(root));
}

/** The parser's objects have no prototype; `toEqual` does not mind, `toStrictEqual` would. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function own(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The expected value, by plain means. */
function withValue(base: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const entries = Object.entries(isObject(base) ? base : {});
  const next = withValue(own(base, key), rest, value);
  const at = entries.findIndex(([name]) => name === key);
  return Object.fromEntries(at === -1 ? [...entries, [key, next]] : entries.with(at, [key, next]));
}

function without(base: unknown, [key, ...rest]: readonly string[]): unknown {
  if (!isObject(base) || key === undefined || !Object.hasOwn(base, key)) return base;
  const entries = Object.entries(base);
  return Object.fromEntries(
    rest.length === 0
      ? entries.filter(([name]) => name !== key)
      : entries.map(([name, value]) => [name, name === key ? without(value, rest) : value]),
  );
}

/** Is `part` what is left of `whole` when some characters are taken out? */
function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (const character of whole.split("")) if (character === part[at]) at += 1;
  return at >= part.length;
}

function commentsOf(text: string): string[] {
  return text.match(/"(?:[^"\\]|\\.)*"|\/\*[\s\S]*?\*\/|\/\/[^\r\n]*/g)?.filter((token) => token.startsWith("/")) ?? [];
}

const newValues = fc.oneof(
  fc.constantFrom<unknown>(null, true, 1, "text", [], {}, { command: "npx", args: ["-y", "x"], env: { K: "v=1" } }),
  fc.jsonValue({ maxDepth: 2 }),
);
const paths = fc.array(names, { minLength: 1, maxLength: 3 });

describe("a new value", () => {
  test.each<[text: string | undefined, path: string[], value: unknown, result: string]>([
    // No file yet, or nothing in it.
    [
      undefined,
      ["mcpServers", "x"],
      { command: "c" },
      '{\n  "mcpServers": {\n    "x": {\n      "command": "c"\n    }\n  }\n}\n',
    ],
    ["", ["a"], 1, '{\n  "a": 1\n}\n'],
    ["\uFEFF", ["a"], 1, '\uFEFF{\n  "a": 1\n}\n'],
    ["// mine", ["a"], 1, '// mine\n{\n  "a": 1\n}\n'],
    ["// mine\r\n", ["a"], 1, '// mine\r\n{\r\n  "a": 1\r\n}\r\n'],
    // Empty objects.
    ["{}", ["a"], [1], '{\n  "a": [\n    1\n  ]\n}'],
    ['{\n\t"m": {}\n}\n', ["m", "a"], 1, '{\n\t"m": {\n\t\t"a": 1\n\t}\n}\n'],
    ["{\n}\n", ["a"], 1, '{\n  "a": 1\n}\n'],
    ["{\n  // none yet\n}\n", ["a"], 1, '{\n  // none yet\n  "a": 1\n}\n'],
    // The manner of the surroundings.
    ['{\n    "a": 1\n}', ["b"], { c: 1 }, '{\n    "a": 1,\n    "b": {\n        "c": 1\n    }\n}'],
    ['{\r\n\t"a": 1\r\n}', ["b"], [], '{\r\n\t"a": 1,\r\n\t"b": []\r\n}'],
    ['{ "a": 1 }', ["b"], { c: [1, 2] }, '{ "a": 1, "b": { "c": [ 1, 2 ] } }'],
    ['{"a": 1}', ["b"], 2, '{"a": 1, "b": 2}'],
    ['{\n  "a": 1,\n}', ["b"], 2, '{\n  "a": 1,\n  "b": 2,\n}'],
    ['{ "a": 1, }', ["b"], 2, '{ "a": 1, "b": 2, }'],
    // A comment stays with the entry it belongs to.
    ['{\n  "a": 1 // one\n}', ["b"], 2, '{\n  "a": 1, // one\n  "b": 2\n}'],
    ['{\n  "a": 1, // one\n  // "old": 0\n}', ["b"], 2, '{\n  "a": 1, // one\n  "b": 2,\n  // "old": 0\n}'],
    ['{ "a": 1 /* one */ }', ["b"], 2, '{ "a": 1, /* one */ "b": 2 }'],
    // Names.
    ["{}", ["__proto__", 'a"b'], 1, '{\n  "__proto__": {\n    "a\\"b": 1\n  }\n}'],
    // Of two objects with one name, the second is in force.
    ['{ "m": {"a": 1}, "m": {"b": 2} }', ["m", "c"], 3, '{ "m": {"a": 1}, "m": {"b": 2, "c": 3} }'],
  ])("%j, %j = %j", (text, path, value, result) => {
    expect(setValue(text, path, value)).toBe(result);
  });
});

describe("an existing value", () => {
  test.each<[text: string, path: string[], value: unknown, result: string]>([
    ['{\n  "a": /* was */ 1, // note\n}', ["a"], { b: 2 }, '{\n  "a": /* was */ {\n    "b": 2\n  }, // note\n}'],
    ['{ "a": {"b": 1}, "c": 2 }', ["a"], { d: 1 }, '{ "a": { "d": 1 }, "c": 2 }'],
    ['{ "a": 1, "a": 2 }', ["a"], 3, '{ "a": 1, "a": 3 }'],
    ["[1] // list", [], {}, "{} // list"],
    // Equal: not a byte changes, not even the comment inside.
    ['{ "a": {"b": 1 /* one */} }', ["a"], { b: 1 }, '{ "a": {"b": 1 /* one */} }'],
  ])("%j, %j = %j", (text, path, value, result) => {
    expect(setValue(text, path, value)).toBe(result);
  });
});

describe("a removed value", () => {
  test.each<[text: string, path: string[], result: string]>([
    ['{\n  "a": 1,\n  "b": 2\n}', ["a"], '{\n  "b": 2\n}'],
    ['{\n  "a": 1,\n  "b": 2\n}', ["b"], '{\n  "a": 1\n}'],
    ['{\n  "a": 1,\n  "b": 2,\n}', ["b"], '{\n  "a": 1,\n}'],
    ['{ "a": 1, "b": 2, "c": 3 }', ["a"], '{ "b": 2, "c": 3 }'],
    ['{ "a": 1, "b": 2, "c": 3 }', ["b"], '{ "a": 1, "c": 3 }'],
    ['{ "a": 1, "b": 2, "c": 3 }', ["c"], '{ "a": 1, "b": 2 }'],
    ['{\n  "m": {\n    "a": 1\n  }\n}', ["m", "a"], '{\n  "m": {}\n}'],
    ["{\n}", ["a"], "{\n}"],
    // Comments stay: above, behind, between, below.
    ['{\n  // above\n  "a": 1, // behind\n  "b": 2\n}', ["a"], '{\n  // above\n  // behind\n  "b": 2\n}'],
    ['{\n  "a": 1, // one\n  "b": 2 // two\n}', ["b"], '{\n  "a": 1 // one\n  // two\n}'],
    ['{\n  "a": 1 /* x */, /* y */ "b": 2\n}', ["b"], '{\n  "a": 1 /* x */ /* y */\n}'],
    ['{ // swallows\n  "a": 1 }', ["a"], "{ // swallows\n }"],
    ['{\n  "a": { "x": 1 /* inside */ },\n  "b": 2\n}', ["a"], '{\n  "b": 2\n}'],
    // An overruled one must not come back into force.
    ['{ "a": 1, "b": 2, "a": 3 }', ["a"], '{ "b": 2 }'],
    // Not there.
    ['{ "a": 1 }', ["b"], '{ "a": 1 }'],
    ['{ "a": 1 }', ["a", "b"], '{ "a": 1 }'],
    ["", ["a"], ""],
    ["[1]", ["0"], "[1]"],
    ["{}", ["__proto__", "toString"], "{}"],
  ])("%j without %j", (text, path, result) => {
    expect(removeValue(text, path)).toBe(result);
  });
});

test("an empty object over several lines closes up when its only value comes and goes", () => {
  expect(removeValue(setValue('{\n  "m": {\n  }\n}', ["m", "a"], 1), ["m", "a"])).toBe('{\n  "m": {}\n}');
});

describe("what cannot be edited is refused with its place", () => {
  test.each([
    ['{\n  "a": 1\n  "b": 2\n}', ["a"], 'line 3, column 3: a "," is missing'],
    ["[1]", ["a"], "line 1, column 1: the file is not an object"],
    ['{ "m": null }', ["m", "a"], 'line 1, column 8: "m" is not an object'],
    ['{\n  "m": { "n": [] }\n}', ["m", "n", "a"], 'line 2, column 15: "m.n" is not an object'],
  ])("%j, %j", (text, path, message) => {
    const refusal = new HostError("settings_invalid", message, {
      next: "Correct it in an editor, then try again. Fairlead changed nothing.",
    });
    expect(() => setValue(text, path, 1)).toThrow(refusal);
  });

  test("also when something is to be removed", () => {
    expect(() => removeValue("{", ["a"])).toThrow(HostError);
    expect(() => removeValue("{}", [])).toThrow(TypeError);
  });
});

describe(`random documents (seed ${randomSeed})`, () => {
  test("a set value is there, and nothing else has changed", () => {
    fc.assert(
      fc.property(documents, paths, newValues, ({ text, value }, path, newValue) => {
        const parents = path.slice(0, -1).map((_, index) => path.slice(0, index + 1).reduce<unknown>(own, value));
        fc.pre(parents.every((parent) => parent === undefined || isObject(parent)));
        const edited = setValue(text, path, newValue);
        expect(read(edited)).toEqual(plain(withValue(value, path, newValue)));
      }),
      runs,
    );
  });

  test("a new value only adds text, and removing it gives back the same bytes", () => {
    fc.assert(
      fc.property(documents, paths, newValues, ({ text, value }, path, newValue) => {
        const missing = path.findIndex(
          (_, index) => path.slice(0, index + 1).reduce<unknown>(own, value) === undefined,
        );
        fc.pre(missing !== -1 && isObject(path.slice(0, missing).reduce<unknown>(own, value)));
        const edited = setValue(text, path, newValue);
        expect(isSubsequence(text, edited)).toBe(true);
        expect(commentsOf(edited)).toEqual(commentsOf(text));
        expect(removeValue(edited, path.slice(0, missing + 1))).toBe(text);
      }),
      runs,
    );
  });

  test("an existing value is replaced in its place, every byte around it stays", () => {
    fc.assert(
      fc.property(documents, newValues, fc.nat(), ({ text, value }, newValue, pick) => {
        const keys = Object.keys(value as object);
        fc.pre(keys.length > 0);
        const key = keys[pick % keys.length] ?? "";
        const { root } = parseJsonc(text);
        const node = root?.children?.findLast((property) => property.children?.[0]?.value === key)?.children?.[1];
        const edited = setValue(text, [key], newValue);
        const end = (node?.offset ?? 0) + (node?.length ?? 0);
        expect(edited.slice(0, node?.offset)).toBe(text.slice(0, node?.offset));
        expect(edited.endsWith(text.slice(end))).toBe(true);
        expect(setValue(edited, [key], newValue)).toBe(edited);
      }),
      runs,
    );
  });

  test("a removed value is gone, the other values and the comments outside it are not", () => {
    fc.assert(
      fc.property(documents, fc.nat(), ({ text, value }, pick) => {
        const keys = Object.keys(value as object);
        fc.pre(keys.length > 0);
        const path = [keys[pick % keys.length] ?? ""];
        const edited = removeValue(text, path);
        expect(read(edited)).toEqual(plain(without(value, path)));
        expect(isSubsequence(edited, text)).toBe(true);
        const removed =
          parseJsonc(text).root?.children?.filter(({ children }) => children?.[0]?.value === path[0]) ?? [];
        const rest = removed.reduceRight(
          (left, { offset, length }) => left.slice(0, offset) + left.slice(offset + length),
          text,
        );
        expect(commentsOf(edited)).toEqual(commentsOf(rest));
      }),
      runs,
    );
  });
});
