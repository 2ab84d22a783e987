import { expect, test } from "vitest";
import { anything, plainValues, reportedOf } from "../../support/compiled.ts";

const string = { type: "string" };
const number = { type: "number" };

/** The report about a rule that the schema for the model says in the description. */
const told = (keyword: string, sentence: string): string =>
  `moved /${keyword}: The Gemini API does not accept the keyword; the description says: ${sentence}`;

type Row = readonly [what: string, raw: unknown, schema: unknown, repairs: readonly string[]];

test.each<Row>([
  [
    "without a type, a text of a length",
    { maxLength: 2 },
    { type: "string", description: "At most 2 characters." },
    [told("maxLength", "At most 2 characters."), "added /type: The other keywords of the schema apply to: string."],
  ],
  [
    "without a type, a text of a least length",
    { minLength: 1 },
    { type: "string", description: "At least 1 character." },
    [told("minLength", "At least 1 character."), "added /type: The other keywords of the schema apply to: string."],
  ],
  [
    "without a type, a pattern",
    { pattern: "a" },
    { type: "string", description: "Must match `a`." },
    [told("pattern", "Must match `a`."), "added /type: The other keywords of the schema apply to: string."],
  ],
  [
    "without a type, an encoding",
    { contentEncoding: "base64" },
    { type: "string", description: "Encoded as base64." },
    [told("contentEncoding", "Encoded as base64."), "added /type: The other keywords of the schema apply to: string."],
  ],
  [
    "without a type, a media type",
    { contentMediaType: "a/b" },
    { type: "string", description: "Holds a/b." },
    [told("contentMediaType", "Holds a/b."), "added /type: The other keywords of the schema apply to: string."],
  ],
  [
    "without a type, JSON in a text",
    { contentSchema: number },
    { type: "string", description: "Holds JSON: number." },
    [told("contentSchema", "Holds JSON: number."), "added /type: The other keywords of the schema apply to: string."],
  ],
  [
    "without a type, a format",
    { format: "uri" },
    { type: "string", description: "Format: uri." },
    [told("format", "Format: uri."), "added /type: The other keywords of the schema apply to: string."],
  ],
  [
    "without a type, int64",
    { format: "int64" },
    { type: "integer", format: "int64" },
    ["added /type: The other keywords of the schema apply to: integer."],
  ],
  [
    "without a type, double",
    { format: "double" },
    { type: "number", format: "double" },
    ["added /type: The other keywords of the schema apply to: number."],
  ],
  [
    "without a type, maximum",
    { maximum: 1 },
    { type: "number", maximum: 1 },
    ["added /type: The other keywords of the schema apply to: number."],
  ],
  [
    "without a type, exclusive",
    { exclusiveMaximum: 1 },
    { type: "number", description: "Less than 1.", maximum: 1 },
    [told("exclusiveMaximum", "Less than 1."), "added /type: The other keywords of the schema apply to: number."],
  ],
  [
    "without a type, multiple",
    { multipleOf: 2 },
    { type: "number", description: "A multiple of 2." },
    [told("multipleOf", "A multiple of 2."), "added /type: The other keywords of the schema apply to: number."],
  ],
  [
    "without a type, items",
    { items: string },
    { type: "array", items: string },
    ["added /type: The other keywords of the schema apply to: array."],
  ],
  [
    "without a type, prefix",
    { prefixItems: [string] },
    { type: "array", items: string, prefixItems: [string] },
    ["added /type: The other keywords of the schema apply to: array."],
  ],
  [
    "without a type, additional items",
    { additionalItems: string },
    { type: "array", items: { anyOf: plainValues } },
    [
      "removed /additionalItems: additionalItems has no effect unless items is a list of schemas.",
      "added /type: The other keywords of the schema apply to: array.",
    ],
  ],
  [
    "without a type, unevaluated",
    { unevaluatedItems: false },
    { type: "array", items: { anyOf: plainValues } },
    [
      "removed /unevaluatedItems: The API has no keyword for this rule.",
      "added /type: The other keywords of the schema apply to: array.",
    ],
  ],
  [
    "without a type, min items",
    { minItems: 1 },
    { type: "array", items: { anyOf: plainValues }, minItems: 1 },
    ["added /type: The other keywords of the schema apply to: array."],
  ],
  [
    "without a type, max items",
    { maxItems: 1 },
    { type: "array", items: { anyOf: plainValues }, maxItems: 1 },
    ["added /type: The other keywords of the schema apply to: array."],
  ],
  [
    "without a type, unique",
    { uniqueItems: true },
    { type: "array", description: "No two items are equal.", items: { anyOf: plainValues } },
    [told("uniqueItems", "No two items are equal."), "added /type: The other keywords of the schema apply to: array."],
  ],
  [
    "without a type, contains",
    { contains: string },
    { type: "array", description: "Contains at least 1 of: string.", items: { anyOf: plainValues } },
    [
      told("contains", "Contains at least 1 of: string."),
      "added /type: The other keywords of the schema apply to: array.",
    ],
  ],
  [
    "without a type, minContains",
    { minContains: 1 },
    { type: "array", items: { anyOf: plainValues } },
    [
      "removed /minContains: minContains and maxContains have no effect without contains.",
      "added /type: The other keywords of the schema apply to: array.",
    ],
  ],
  [
    "without a type, properties",
    { properties: { a: string } },
    { type: "object", properties: { a: string } },
    ["added /type: The other keywords of the schema apply to: object."],
  ],
  [
    "without a type, required",
    { required: ["a"] },
    { type: "object", properties: { a: anything }, required: ["a"] },
    [
      "added /type: The other keywords of the schema apply to: object.",
      "rewritten /required: Required properties without a schema now accept any value: a.",
    ],
  ],
  [
    "without a type, closed",
    { additionalProperties: false },
    { type: "object" },
    [
      "removed /additionalProperties: The model gets only the named properties.",
      "added /type: The other keywords of the schema apply to: object.",
    ],
  ],
  [
    "without a type, patterns",
    { patternProperties: {} },
    { type: "object" },
    [
      "removed /patternProperties: The keyword is empty.",
      "added /type: The other keywords of the schema apply to: object.",
    ],
  ],
  [
    "without a type, names",
    { propertyNames: true },
    { type: "object" },
    [
      "removed /propertyNames: The names of properties are always strings.",
      "added /type: The other keywords of the schema apply to: object.",
    ],
  ],
  [
    "without a type, min properties",
    { minProperties: 0 },
    { type: "object" },
    [
      "removed /minProperties: The keyword has its default value.",
      "added /type: The other keywords of the schema apply to: object.",
    ],
  ],
  [
    "without a type, max properties",
    { maxProperties: 1 },
    { type: "object", description: "At most 1 property." },
    [told("maxProperties", "At most 1 property."), "added /type: The other keywords of the schema apply to: object."],
  ],
  [
    "without a type, dependencies",
    { dependentRequired: {} },
    { type: "object" },
    [
      "removed /dependentRequired: The keyword requires nothing.",
      "added /type: The other keywords of the schema apply to: object.",
    ],
  ],
  [
    "without a type, two",
    { minLength: 1, minimum: 1 },
    { description: "At least 1 character.", anyOf: [{ type: "number", minimum: 1 }, string] },
    [
      told("minLength", "At least 1 character."),
      "added /type: The other keywords of the schema apply to: number, string.",
    ],
  ],
  [
    "foreign to a text",
    {
      type: "string",
      minimum: 1,
      maximum: 2,
      minItems: 1,
      maxItems: 2,
      items: { properties: { a: number } },
      prefixItems: [number],
      properties: { b: { properties: { c: number } } },
      required: ["b"],
    },
    string,
    [
      "removed /minimum: The keyword does not apply to: string.",
      "removed /maximum: The keyword does not apply to: string.",
      "removed /minItems: The keyword does not apply to: string.",
      "removed /maxItems: The keyword does not apply to: string.",
      "removed /items: The keyword does not apply to: string.",
      "removed /prefixItems: The keyword does not apply to: string.",
      "removed /properties: The keyword does not apply to: string.",
      "removed /required: The keyword does not apply to: string.",
      "removed /prefixItems/0: The keyword does not apply to: string.",
      "removed /properties/b: The keyword does not apply to: string.",
    ],
  ],
  [
    "foreign to a list",
    { type: "array", items: string, minimum: 1, format: "date-time", properties: { b: number } },
    { type: "array", description: "Format: date-time.", items: string },
    [
      told("format", "Format: date-time."),
      "removed /minimum: The keyword does not apply to: array.",
      "removed /properties: The keyword does not apply to: array.",
      "removed /properties/b: The keyword does not apply to: array.",
    ],
  ],
  [
    "foreign to an object",
    { type: "object", properties: { a: string }, items: string, minItems: 1, maximum: 3 },
    { type: "object", properties: { a: string } },
    [
      "removed /maximum: The keyword does not apply to: object.",
      "removed /minItems: The keyword does not apply to: object.",
      "removed /items: The keyword does not apply to: object.",
    ],
  ],
  [
    "a format of one of two types",
    { type: ["string", "number"], format: "float" },
    { anyOf: [string, { type: "number", format: "float" }] },
    ["rewritten /type: Each type becomes one alternative."],
  ],
])("the type of a value and what does not apply to it are reported: %s", (_what, raw, schema, repairs) => {
  expect(reportedOf(raw)).toEqual({ schema, repairs });
});
