import { describe, expect, test } from "vitest";
import { anything, propertyOf } from "../../support/compiled.ts";
import { described, number, type Row, same, string } from "../../support/gemini-rows.ts";

const groups: Record<string, readonly Row[]> = {
  objects: [
    same("properties", { type: "object", properties: { a: string }, required: ["a"] }),
    same("no properties", { type: "object" }),
    ["an empty map of properties", { type: "object", properties: {} }, { type: "object" }, ["removed /properties"]],
    ["a list of properties", { type: "object", properties: [] }, { type: "object" }, ["removed /properties"]],
    [
      "a required property that nothing describes",
      { type: "object", properties: { a: string }, required: ["a", "b"] },
      { type: "object", properties: { a: string, b: anything }, required: ["a", "b"] },
      ["rewritten /required"],
    ],
    [
      "a required property that is not allowed",
      { type: "object", properties: { a: string }, required: ["a", "b"], additionalProperties: false },
      { type: "object", properties: { a: string }, required: ["a"] },
      ["removed /additionalProperties", "rewritten /required"],
    ],
    [
      "required twice, or not a name",
      { type: "object", properties: { a: string }, required: ["a", "a", 5] },
      { type: "object", properties: { a: string }, required: ["a"] },
      ["rewritten /required"],
    ],
    [
      "nothing required",
      { type: "object", properties: { a: string }, required: [] },
      { type: "object", properties: { a: string } },
      ["removed /required"],
    ],
    [
      "required, as draft 3 says it",
      { type: "object", properties: { a: { type: "string", required: true } } },
      { type: "object", properties: { a: string }, required: ["a"] },
      ["removed /properties/a/required"],
    ],
    [
      "no other properties",
      { type: "object", properties: { a: string }, additionalProperties: false },
      { type: "object", properties: { a: string } },
      ["removed /additionalProperties"],
    ],
    [
      "other properties at a depth",
      { type: "object", properties: { a: { type: "object", additionalProperties: true, $schema: "x" } } },
      { type: "object", properties: { a: { type: "object" } } },
      ["removed /properties/a/$schema", "removed /properties/a/additionalProperties"],
    ],
    [
      "a map",
      { type: "object", additionalProperties: { type: "object", properties: { n: string }, required: ["n"] } },
      described("Other properties: {n: string}.", { type: "object" }),
      ["moved /additionalProperties"],
    ],
    [
      "a map by names",
      { type: "object", patternProperties: { "^x-": string } },
      described("Properties named like ^x-: string.", { type: "object" }),
      ["moved /patternProperties"],
    ],
    [
      "rules about names",
      { type: "object", propertyNames: { pattern: "^[a-z]+$" } },
      described("Names of properties: anything matching ^[a-z]+$.", { type: "object" }),
      ["moved /propertyNames"],
    ],
    [
      "names that are strings",
      { type: "object", propertyNames: string },
      { type: "object" },
      ["removed /propertyNames"],
    ],
    [
      "how many",
      { type: "object", minProperties: 1, maxProperties: 3 },
      described("At least 1 property. At most 3 properties.", { type: "object" }),
      ["moved /minProperties", "moved /maxProperties"],
    ],
    [
      "no unevaluated ones",
      { type: "object", unevaluatedProperties: false },
      { type: "object" },
      ["removed /unevaluatedProperties"],
    ],
    [
      "one that needs another",
      { type: "object", properties: { a: string, b: string }, dependentRequired: { a: ["b"] } },
      described('With "a", "b" must be given too.', { type: "object", properties: { a: string, b: string } }),
      ["moved /dependentRequired"],
    ],
    [
      "one that brings another",
      { type: "object", properties: { a: string }, dependentSchemas: { a: { properties: { b: number } } } },
      described('With "a": {b?: number}.', { type: "object", properties: { a: string, b: number } }),
      ["moved /dependentSchemas"],
    ],
    [
      "both, as draft 7 says it",
      { type: "object", properties: { a: string }, dependencies: { a: ["b"], c: { properties: { d: number } } } },
      described('With "a", "b" must be given too. With "c": {d?: number}.', {
        type: "object",
        properties: { a: string, d: number },
      }),
      ["moved /dependencies"],
    ],
    [
      "properties of a string",
      { type: "string", properties: { a: string }, required: ["a"] },
      string,
      ["removed /properties", "removed /required", "removed /properties/a"],
    ],
  ],
  annotations: [
    ["a default", { type: "number", default: 10 }, described("Default: 10.", number), ["moved /default"]],
    [
      "a default of null",
      { type: ["string", "null"], default: null },
      { anyOf: [string, { type: "null" }] },
      ["removed /default", "rewritten /type"],
    ],
    [
      "a default beside alternatives",
      { anyOf: [string, number], default: "a" },
      { description: 'Default: "a".', anyOf: [string, number] },
      ["moved /default"],
    ],
    [
      "examples",
      { type: "string", examples: ["a", "b"], example: "c" },
      described('For example "a" and "b". For example "c".'),
      ["moved /examples", "moved /example"],
    ],
    ["no examples", { type: "string", examples: [] }, string, ["removed /examples"]],
    [
      "marks",
      { type: "string", deprecated: true, readOnly: true, writeOnly: false },
      described("Deprecated. Set by the server only."),
      ["moved /deprecated", "moved /readOnly", "removed /writeOnly"],
    ],
    [
      "what only tools for people use",
      { type: "string", $comment: "c", discriminator: {}, xml: {}, externalDocs: {}, "x-order": 1, unknown: true },
      string,
      [
        "removed /$comment",
        "removed /discriminator",
        "removed /externalDocs",
        "removed /xml",
        "removed /x-order",
        "removed /unknown",
      ],
    ],
    [
      "words of the wrong type",
      { type: "string", description: 7, title: ["t"] },
      string,
      ["removed /title", "removed /description"],
    ],
    [
      "an order of properties",
      { type: "object", properties: { a: string }, propertyOrdering: ["a"] },
      { type: "object", properties: { a: string } },
      ["removed /propertyOrdering"],
    ],
    [
      "invisible characters, in words",
      {
        type: "string",
        title: "N\u200bame",
        description: "A\u{e0041}\u202e name.\u0007\nOf a person.",
        pattern: "^\u200ba",
        default: "\u2066x",
      },
      { type: "string", title: "Name", description: 'A name.\nOf a person.\nDefault: "x". Must match `^a`.' },
      ["rewritten /title", "rewritten /description", "moved /default", "moved /pattern"],
    ],
    [
      "a title of nothing else",
      { type: "string", title: "\u200b", description: "\u200b" },
      string,
      ["rewritten /title", "rewritten /description"],
    ],
    [
      "invisible characters, in values",
      { enum: ["red", "gr\u200been", "\u001b[31m"] },
      { type: "string", enum: ["red"] },
      ["rewritten /enum"],
    ],
    [
      "invisible characters, in all values",
      { enum: ["gr\u200been", "\ud800"] },
      described("The values contain characters that cannot be shown."),
      ["moved /enum"],
    ],
    [
      "bounds that nothing fits",
      { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 1 },
      described("At least 1 and at most 0.", { type: "integer" }),
      ["rewritten /exclusiveMinimum", "rewritten /exclusiveMaximum", "moved /minimum", "moved /maximum"],
    ],
    [
      "numbers of items that nothing fits",
      { type: "array", items: string, minItems: 2, allOf: [{ maxItems: 1 }] },
      described("At least 2 and at most 1 items.", { type: "array", items: string }),
      ["merged /allOf", "moved /minItems", "moved /maxItems"],
    ],
    ["identifiers", { type: "string", $id: "x", $anchor: "y" }, string, ["removed /$id", "removed /$anchor"]],
  ],
};

describe.each(Object.entries(groups))("for Gemini, %s", (_, rows) => {
  test.each(rows)("%s", (_what, raw, schema, repairs) => {
    expect(propertyOf(raw)).toEqual({ schema, repairs });
  });
});

test("what goes into a description has its limits, and the description gives way before the rules do", () => {
  const { schema, repairs } = propertyOf({
    type: "string",
    title: "t".repeat(300),
    description: "d".repeat(10_000),
    maxLength: 3,
  });
  const room = 4096 - "\nAt most 3 characters.".length;
  expect(schema).toEqual({
    type: "string",
    title: `${"t".repeat(255)}…`,
    description: `${"d".repeat(room - 1)}…\nAt most 3 characters.`,
  });
  expect(repairs).toEqual(["moved /maxLength", "rewritten /description", "rewritten /title"]);
});
