import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createTypeWriter } from "../../../../src/normalise/schema/write/type-text.ts";

const limits = { depth: 2, members: 3, parts: 100 };

function typeOf(schema: unknown, root: unknown = schema): string {
  return createTypeWriter(root, limits)(schema);
}

describe("a schema is written as the type that it describes", () => {
  test.each<[schema: unknown, words: string]>([
    [{}, "unknown"],
    [true, "unknown"],
    [false, "never"],
    ["nonsense", "unknown"],
    [{ type: 7 }, "unknown"],
    [{ type: "" }, "unknown"],
    [{ type: "object", patternProperties: "nonsense" }, "object"],
    [{ type: "string" }, "string"],
    [{ type: "integer" }, "integer"],
    [{ type: ["string", "null"] }, "string | null"],
    [{ type: "string", nullable: true }, "string | null"],
    [{ enum: ["a", 1, null] }, '"a" | 1 | null'],
    [{ type: "string", enum: ["a", "b", "c", "d"] }, '"a" | "b" | "c" | "d"'],
    [{ enum: [1, 2, 3, 4, 5] }, "1 | 2 | 3 | …+2"],
    [{ const: "x" }, '"x"'],
    [{ const: { a: [] } }, '{"a":[]}'],
    [{ type: "array" }, "unknown[]"],
    [{ items: { type: "string" } }, "string[]"],
    [{ type: "array", items: { type: ["string", "null"] } }, "(string | null)[]"],
    [{ type: "array", items: { type: "array", items: { enum: [1] } } }, "1[][]"],
    [{ type: "array", prefixItems: [{ type: "number" }, {}] }, "[number, unknown]"],
    [{ type: "array", items: [{ type: "number" }] }, "[number]"],
    [{ type: "object" }, "object"],
    [{ type: "object", additionalProperties: false }, "{}"],
    [{ type: "object", additionalProperties: true }, "Record<string, unknown>"],
    [{ additionalProperties: { type: "number" } }, "Record<string, number>"],
    [{ patternProperties: { "^x": { type: "number" }, "^y": { type: "string" } } }, "Record<string, number | string>"],
    [
      { properties: { b: { type: "number" }, a: { type: "string" } }, required: ["a", "absent"] },
      "{a: string, b?: number}",
    ],
    [
      { properties: { a: { type: "string" } }, additionalProperties: { type: "number" } },
      "{a?: string, [key: string]: number}",
    ],
    [{ properties: { a: {}, b: {}, c: {}, d: {}, e: {} } }, "{a?: unknown, b?: unknown, c?: unknown, …+2}"],
    [{ properties: { a: { properties: { b: { properties: { c: {} } } } } } }, "{a?: {b?: {…}}}"],
    [{ anyOf: [{ type: "string" }, { type: "null" }, { type: "string" }] }, "string | null"],
    [{ oneOf: [{ type: "string" }, { type: "number" }] }, "string | number"],
    [{ anyOf: [{ type: "string" }, {}] }, "unknown"],
    [{ anyOf: [1, 2, 3, 4, 5].map((one) => ({ const: one })) }, "1 | 2 | 3 | …+2"],
    [{ type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] }, "object"],
    [{ type: "string", anyOf: [{ enum: ["a"] }, { type: "string" }] }, '"a" | string'],
    [{ allOf: [{ type: "string" }] }, "string"],
    [{ allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }, "{a?: unknown} & {b?: unknown}"],
    [
      { type: "array", items: { allOf: [{ type: ["string", "null"] }, { type: "number" }] } },
      "((string | null) & number)[]",
    ],
    [{ properties: { a: {} }, anyOf: [{ required: ["a"] }] }, "{a?: unknown}"],
  ])("%j is %s", (schema, words) => {
    expect(typeOf(schema)).toBe(words);
  });
});

describe("a reference within the document is followed", () => {
  const root = {
    definitions: { "a/b": { type: "string" }, loop: { $ref: "#/definitions/loop" } },
    $defs: {
      Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" }, name: { type: "string" } } },
      list: [{ type: "number" }],
    },
    properties: { self: { $ref: "#" } },
  };

  test.each([
    ["#/definitions/a~1b", "string"],
    ["#/definitions/a%7E1b", "string"],
    ["#/$defs/list/0", "number"],
    ["#/$defs/Node", "{next?: Node, name?: string}"],
    ["#/definitions/loop", "loop"],
    ["#/$defs/Absent", "unknown"],
    ["#/constructor", "unknown"],
    ["#/%", "unknown"],
    ["#anchor", "unknown"],
    ["https://example.com/schema.json", "unknown"],
  ])("%s is %s", ($ref, words) => {
    expect(typeOf({ $ref }, root)).toBe(words);
  });

  test("a definition that is used twice is written out both times", () => {
    const $ref = "#/definitions/a~1b";
    expect(typeOf({ properties: { one: { $ref }, two: { $ref } } }, root)).toBe("{one?: string, two?: string}");
    expect(typeOf({ type: "array", prefixItems: [{ $ref: "#/$defs/Node" }, { $ref: "#/$defs/Node" }] }, root)).toBe(
      "[{next?: Node, name?: string}, {next?: Node, name?: string}]",
    );
  });

  test("a document that refers to itself as a whole comes to an end", () => {
    expect(typeOf(root)).toBe("{self?: …}");
  });
});

describe("whatever a server writes, the type is short", () => {
  const longName = "n".repeat(10_000);

  test.each<[what: string, schema: unknown, most: number]>([
    ["a long name", { properties: { [longName]: {} } }, 60],
    ["a long type", { type: longName }, 60],
    ["a long choice", { enum: [longName] }, 60],
    ["a large constant", { const: Array.from({ length: 10_000 }, (_, at) => at) }, 60],
    ["a deep constant", { const: nested((inner) => [inner]) }, 60],
    ["arrays in arrays", nested((items) => ({ type: "array", items })), 300],
    ["objects in objects", nested((a) => ({ type: "object", properties: { a } })), 60],
    ["alternatives in alternatives", nested((one) => ({ anyOf: [one, { type: "string" }] })), 1000],
    [
      "definitions that double each other",
      {
        $ref: "#/$defs/d0",
        $defs: Object.fromEntries(
          Array.from({ length: 50 }, (_, at) => {
            const $ref = `#/$defs/d${at + 1}`;
            return [`d${at}`, { anyOf: [{ items: { $ref } }, { allOf: [{ $ref }, { type: "string" }] }] }];
          }),
        ),
      },
      5000,
    ],
    ["a hundred thousand properties", { properties: many("p", {}) }, 100],
    ["a hundred thousand choices", { enum: Object.keys(many("c", 0)) }, 100],
    ["a hundred thousand alternatives", { anyOf: Object.keys(many("a", 0)).map((one) => ({ const: one })) }, 100],
  ])("%s", (_, schema, most) => {
    expect(typeOf(schema).length).toBeLessThanOrEqual(most);
  });

  test("and there is one for every schema", () => {
    const keyword = fc.constantFrom("type", "enum", "const", "items", "prefixItems", "properties", "required", "anyOf");
    const other = fc.constantFrom("allOf", "oneOf", "$ref", "additionalProperties", "patternProperties", "nullable");
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6, withCrossShrink: true },
        fc.oneof(fc.constantFrom("string", "object", "array", "#", "#/properties", "__proto__"), fc.jsonValue()),
        fc.array(tie("tree"), { maxLength: 5 }),
        fc.dictionary(fc.oneof(keyword, other, fc.string()), tie("tree"), { maxKeys: 5 }),
      ),
    }));
    const check = fc.property(tree, (schema) => typeOf(schema) !== "" && typeOf(schema).length < 20_000);
    fc.assert(check, { numRuns: scaled(10_000), seed: seed() });
  });
});

function nested(wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = {};
  for (let depth = 0; depth < 100_000; depth += 1) value = wrap(value);
  return value;
}

function many(prefix: string, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`${prefix}${at}`, value]));
}
