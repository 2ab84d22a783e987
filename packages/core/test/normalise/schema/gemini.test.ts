import { describe, expect, test } from "vitest";
import { anything, plainValues, propertyOf } from "./compiled.ts";

type Row = readonly [what: string, raw: unknown, schema: unknown, repairs: readonly string[]];

const same = (what: string, schema: unknown): Row => [what, schema, schema, []];
const string = { type: "string" };
const number = { type: "number" };
const described = (description: string, schema: Record<string, unknown> = string): Record<string, unknown> => ({
  ...schema,
  description,
});

const groups: Record<string, readonly Row[]> = {
  types: [
    same("one type", { type: "string", title: "Name", description: "A name." }),
    [
      "none, but a keyword about one",
      { properties: { a: string } },
      { type: "object", properties: { a: string } },
      ["added /type"],
    ],
    [
      "none, but keywords about two",
      { minimum: 1, pattern: "^a" },
      described("Must match `^a`.", { anyOf: [{ type: "number", minimum: 1 }, string] }),
      ["moved /pattern", "added /type"],
    ],
    ["none at all", {}, anything, []],
    ["none, but a description", { description: "Anything." }, { description: "Anything.", ...anything }, []],
    ["true", true, anything, []],
    ["false", false, { description: "Must not be given.", ...anything }, ["rewritten /properties/p"]],
    ["no schema", 5, anything, ["rewritten /properties/p"]],
    ["null as well", { type: ["string", "null"] }, { anyOf: [string, { type: "null" }] }, ["rewritten /type"]],
    [
      "null as well, as OpenAPI says it",
      { type: "string", nullable: true },
      { anyOf: [string, { type: "null" }] },
      ["rewritten /nullable"],
    ],
    ["not null, as OpenAPI says it", { type: "string", nullable: false }, string, ["removed /nullable"]],
    [
      "several, each with its own keywords",
      { type: ["string", "number"], minimum: 3, enum: ["a", 4] },
      {
        anyOf: [
          { type: "string", enum: ["a"] },
          { type: "number", enum: [4], minimum: 3 },
        ],
      },
      ["rewritten /type", "rewritten /enum"],
    ],
    ["a list of one", { type: ["string"] }, string, ["rewritten /type"]],
    ["a whole number or a number", { type: ["integer", "number"] }, number, ["rewritten /type"]],
    ["in capitals", { type: "STRING" }, string, ["rewritten /type"]],
    ["the names of a language", { type: "dict" }, { type: "object" }, ["rewritten /type"]],
    ["any", { type: "any" }, anything, ["removed /type"]],
    ["not a type", { type: "file" }, anything, ["removed /type"]],
    ["not a name", { type: 5 }, anything, ["removed /type"]],
  ],
  values: [
    same("strings", { type: "string", enum: ["a", "b"] }),
    same("numbers", { type: "number", enum: [1, 2.5] }),
    ["without a type", { enum: ["a"] }, { type: "string", enum: ["a"] }, []],
    ["whole numbers without a type", { enum: [1, 2] }, { type: "integer", enum: [1, 2] }, []],
    [
      "null among them",
      { type: ["string", "null"], enum: ["a", null] },
      { anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }] },
      ["rewritten /type", "rewritten /enum"],
    ],
    [
      "of several types",
      { enum: ["a", 1] },
      {
        anyOf: [
          { type: "string", enum: ["a"] },
          { type: "integer", enum: [1] },
        ],
      },
      ["rewritten /enum"],
    ],
    [
      "an empty string among them",
      { type: "string", enum: ["", "a"] },
      described("May also be an empty string.", { type: "string", enum: ["a"] }),
      ["moved /enum"],
    ],
    ["nothing but an empty string", { enum: [""] }, described("Must be an empty string."), ["moved /enum"]],
    ["twice the same", { type: "string", enum: ["a", "a"] }, { type: "string", enum: ["a"] }, ["rewritten /enum"]],
    [
      "another type than declared",
      { type: "string", enum: [1, 2] },
      { type: "integer", enum: [1, 2] },
      ["rewritten /type"],
    ],
    [
      "some of another type than declared",
      { type: "string", enum: ["a", 1] },
      { type: "string", enum: ["a"] },
      ["rewritten /enum"],
    ],
    ["both truth values", { enum: [true, false] }, { type: "boolean" }, ["rewritten /enum"]],
    [
      "one truth value",
      { type: "boolean", enum: [true] },
      described("Must be true.", { type: "boolean" }),
      ["moved /enum"],
    ],
    ["objects", { enum: [{ a: 1 }] }, described('Must be {"a":1}.', { type: "object" }), ["moved /enum"]],
    ["no values", { type: "string", enum: [] }, string, ["removed /enum"]],
    ["no list", { type: "string", enum: "a" }, string, ["removed /enum"]],
    ["a constant", { const: "a" }, { type: "string", enum: ["a"] }, ["rewritten /const"]],
    ["a constant number", { type: "number", const: 1 }, { type: "number", enum: [1] }, ["rewritten /const"]],
    ["a constant truth value", { const: false }, described("Must be false.", { type: "boolean" }), ["moved /const"]],
    ["a constant null", { const: null }, { type: "null" }, ["rewritten /const"]],
    [
      "a constant list",
      { const: [1] },
      described("Must be [1].", { type: "array", items: { anyOf: plainValues } }),
      ["moved /const"],
    ],
    [
      "a constant beside an enum",
      { enum: ["a", "b"], const: "b" },
      { type: "string", enum: ["b"] },
      ["rewritten /enum", "rewritten /const"],
    ],
  ],
  numbers: [
    same("bounds", { type: "number", minimum: 0, maximum: 1.5 }),
    [
      "excluded, for whole numbers",
      { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 10 },
      { type: "integer", minimum: 1, maximum: 9 },
      ["rewritten /exclusiveMinimum", "rewritten /exclusiveMaximum"],
    ],
    [
      "excluded, between whole numbers",
      { type: "integer", exclusiveMinimum: 0.5 },
      { type: "integer", minimum: 1 },
      ["rewritten /exclusiveMinimum"],
    ],
    [
      "excluded",
      { type: "number", exclusiveMinimum: 0 },
      described("Greater than 0.", { type: "number", minimum: 0 }),
      ["moved /exclusiveMinimum"],
    ],
    [
      "excluded, in draft 4",
      { type: "number", maximum: 5, exclusiveMaximum: true },
      described("Less than 5.", { type: "number", maximum: 5 }),
      ["moved /exclusiveMaximum"],
    ],
    [
      "not excluded, in draft 4",
      { type: "number", minimum: 5, exclusiveMinimum: false },
      { type: "number", minimum: 5 },
      ["removed /exclusiveMinimum"],
    ],
    ["excluded without a bound", { type: "number", exclusiveMinimum: true }, number, ["removed /exclusiveMinimum"]],
    ["steps", { type: "number", multipleOf: 0.5 }, described("A multiple of 0.5.", number), ["moved /multipleOf"]],
    ["about a string", { type: "string", minimum: 1 }, string, ["removed /minimum"]],
    ["no number", { type: "number", minimum: "1" }, number, ["removed /minimum"]],
    same("a format of numbers", { type: "integer", format: "int64" }),
    [
      "a format of another type",
      { type: "number", format: "int32" },
      described("Format: int32.", number),
      ["moved /format"],
    ],
  ],
  strings: [
    same("a format that the API knows", { type: "string", format: "date-time" }),
    ["a format that it does not", { type: "string", format: "uuid" }, described("Format: uuid."), ["moved /format"]],
    [
      "a format that says nothing",
      { type: "string", format: "enum", enum: ["a"] },
      { type: "string", enum: ["a"] },
      ["removed /format"],
    ],
    [
      "lengths",
      { type: "string", minLength: 1, maxLength: 20 },
      described("At least 1 character. At most 20 characters."),
      ["moved /minLength", "moved /maxLength"],
    ],
    ["a length of nothing", { type: "string", minLength: 0 }, string, ["removed /minLength"]],
    [
      "a pattern beside a description",
      { type: "string", description: "A name", pattern: "^[a-z]+$" },
      described("A name\nMust match `^[a-z]+$`."),
      ["moved /pattern"],
    ],
    [
      "what is inside",
      { type: "string", contentEncoding: "base64", contentMediaType: "image/png" },
      described("Encoded as base64. Holds image/png."),
      ["moved /contentEncoding", "moved /contentMediaType"],
    ],
    [
      "JSON inside",
      { type: "string", contentSchema: { type: "number" } },
      described("Holds JSON: number."),
      ["moved /contentSchema"],
    ],
    [
      "a length of the wrong kind",
      { type: "string", maxLength: -1, minLength: 1.5 },
      string,
      ["removed /minLength", "removed /maxLength"],
    ],
  ],
  arrays: [
    same("items", { type: "array", items: string, minItems: 1, maxItems: 3 }),
    same("a tuple", { type: "array", items: string, prefixItems: [string, number] }),
    ["without items", { type: "array" }, { type: "array", items: { anyOf: plainValues } }, []],
    ["any items", { type: "array", items: true }, { type: "array", items: { anyOf: plainValues } }, []],
    [
      "no items",
      { type: "array", items: false },
      { type: "array", items: { anyOf: plainValues }, maxItems: 0 },
      ["rewritten /items"],
    ],
    [
      "a tuple without more",
      { type: "array", prefixItems: [string, number] },
      { type: "array", items: { anyOf: [string, number] }, prefixItems: [string, number] },
      [],
    ],
    [
      "a tuple of an older draft",
      { type: "array", items: [string, number] },
      { type: "array", items: { anyOf: [string, number] }, prefixItems: [string, number] },
      ["rewritten /items"],
    ],
    [
      "a closed tuple of an older draft",
      { type: "array", items: [string], additionalItems: false },
      { type: "array", items: string, prefixItems: [string], maxItems: 1 },
      ["rewritten /items", "rewritten /additionalItems"],
    ],
    [
      "an open tuple of an older draft",
      { type: "array", items: [string], additionalItems: number },
      { type: "array", items: number, prefixItems: [string] },
      ["rewritten /items", "rewritten /additionalItems"],
    ],
    [
      "additional items beside no tuple",
      { type: "array", items: string, additionalItems: false },
      { type: "array", items: string },
      ["removed /additionalItems"],
    ],
    [
      "an empty tuple",
      { type: "array", items: [] },
      { type: "array", items: { anyOf: plainValues } },
      ["removed /items"],
    ],
    [
      "distinct items",
      { type: "array", items: string, uniqueItems: true },
      described("No two items are equal.", { type: "array", items: string }),
      ["moved /uniqueItems"],
    ],
    [
      "items that may be equal",
      { type: "array", items: string, uniqueItems: false },
      { type: "array", items: string },
      ["removed /uniqueItems"],
    ],
    [
      "something among them",
      { type: "array", items: string, contains: { const: "a" }, minContains: 2, maxContains: 3 },
      described('Contains at least 2 and at most 3 of: "a".', { type: "array", items: string }),
      ["moved /contains", "moved /minContains", "moved /maxContains"],
    ],
    [
      "a count of nothing",
      { type: "array", items: string, minContains: 2 },
      { type: "array", items: string },
      ["removed /minContains"],
    ],
    [
      "other items",
      { type: "array", items: string, unevaluatedItems: number },
      described("Other items: number.", { type: "array", items: string }),
      ["moved /unevaluatedItems"],
    ],
    [
      "items that are no schema",
      { type: "array", items: "string" },
      { type: "array", items: { anyOf: plainValues } },
      ["removed /items"],
    ],
  ],
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
      "characters that nobody sees, in words",
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
      "characters that nobody sees, in values",
      { enum: ["red", "gr\u200been", "\u001b[31m"] },
      { type: "string", enum: ["red"] },
      ["rewritten /enum"],
    ],
    [
      "characters that nobody sees, in all values",
      { enum: ["gr\u200been", "\ud800"] },
      described("Its values hold characters that cannot be shown."),
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
