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
    "object rules",
    {
      type: "object",
      properties: {},
      required: [],
      patternProperties: { "^a": string, "^b": number },
      propertyNames: { pattern: "^a" },
      minProperties: 1,
      maxProperties: 2,
      additionalProperties: number,
    },
    {
      type: "object",
      description:
        "Other properties: number. Properties named like ^a: string. Properties named like ^b: number. Names of properties: anything matching ^a. At least 1 property. At most 2 properties.",
    },
    [
      "removed /properties: The keyword is empty.",
      "removed /required: The keyword is empty.",
      told("additionalProperties", "Other properties: number."),
      told("patternProperties", "Properties named like ^a: string. Properties named like ^b: number."),
      told("propertyNames", "Names of properties: anything matching ^a."),
      told("minProperties", "At least 1 property."),
      told("maxProperties", "At most 2 properties."),
    ],
  ],
  [
    "object rules that say nothing",
    {
      type: "object",
      properties: { a: string },
      required: ["a", "a", 1],
      patternProperties: {},
      propertyNames: string,
      minProperties: 0,
      maxProperties: 1,
      additionalProperties: false,
      unevaluatedProperties: true,
    },
    { type: "object", description: "At most 1 property.", properties: { a: string }, required: ["a"] },
    [
      "rewritten /required: Repeated names, and values that are not names, are left out.",
      "removed /additionalProperties: The model gets only the named properties.",
      "removed /unevaluatedProperties: The model gets only the named properties.",
      "removed /patternProperties: The keyword is empty.",
      "removed /propertyNames: The names of properties are always strings.",
      "removed /minProperties: The keyword has its default value.",
      told("maxProperties", "At most 1 property."),
    ],
  ],
  [
    "dependencies",
    {
      type: "object",
      properties: { a: string, b: string },
      dependentRequired: { a: ["b", "c"] },
      dependentSchemas: { b: { properties: { d: number }, required: ["d"] } },
      dependencies: { a: [] },
    },
    {
      type: "object",
      description: 'With "a", "b" and "c" must be given too. With "b": {d: number}.',
      properties: { a: string, b: string, d: number },
    },
    [
      'moved /dependentRequired: The description says: With "a", "b" and "c" must be given too.',
      'moved /dependentSchemas: The description says: With "b": {d: number}.',
      "removed /dependencies: The keyword requires nothing.",
    ],
  ],
  [
    "array rules",
    {
      type: "array",
      items: string,
      minItems: 1,
      maxItems: 3,
      uniqueItems: true,
      contains: { const: "a" },
      minContains: 2,
      maxContains: 3,
      unevaluatedItems: number,
      additionalItems: false,
    },
    {
      type: "array",
      description: 'Other items: number. No two items are equal. Contains at least 2 and at most 3 of: "a".',
      items: string,
      minItems: 1,
      maxItems: 3,
    },
    [
      "removed /additionalItems: additionalItems has no effect unless items is a list of schemas.",
      told("unevaluatedItems", "Other items: number."),
      told("uniqueItems", "No two items are equal."),
      told("contains", 'Contains at least 2 and at most 3 of: "a".'),
      "moved /minContains: The description explains this keyword together with the keyword contains.",
      "moved /maxContains: The description explains this keyword together with the keyword contains.",
    ],
  ],
  [
    "array rules that say nothing",
    { type: "array", items: string, uniqueItems: false, minContains: 1, unevaluatedItems: false, prefixItems: [] },
    { type: "array", items: string },
    [
      "removed /prefixItems: The keyword is empty.",
      "removed /unevaluatedItems: The API has no keyword for this rule.",
      "removed /uniqueItems: The keyword has its default value.",
      "removed /minContains: minContains and maxContains have no effect without contains.",
    ],
  ],
  [
    "tuple of older drafts",
    { type: "array", items: [string, number], additionalItems: { type: "boolean" }, maxItems: 5 },
    { type: "array", items: { type: "boolean" }, prefixItems: [string, number], maxItems: 5 },
    [
      "rewritten /items: A list of schemas is written as prefixItems.",
      "rewritten /additionalItems: `additionalItems` is written as `items`.",
    ],
  ],
  [
    "closed tuple",
    { type: "array", items: [string, number], additionalItems: false, maxItems: 5 },
    { type: "array", items: { anyOf: [string, number] }, prefixItems: [string, number], maxItems: 2 },
    [
      "rewritten /items: A list of schemas is written as prefixItems.",
      "rewritten /additionalItems: No further items are allowed: at most 2.",
      "rewritten /maxItems: More items than the schema describes are not allowed.",
    ],
  ],
  [
    "tuple and tuple",
    { type: "array", prefixItems: [string], items: [number], additionalItems: true },
    { type: "array", items: string, prefixItems: [string] },
    [
      "removed /items: prefixItems already describes these items.",
      "removed /additionalItems: The keyword has its default value.",
    ],
  ],
  [
    "no items at all",
    { type: "array", items: false },
    { type: "array", items: { anyOf: plainValues }, maxItems: 0 },
    ["rewritten /items: No further items are allowed: at most 0."],
  ],
  [
    "false",
    false,
    {
      description: "Must not be given.",
      anyOf: [
        string,
        number,
        { type: "boolean" },
        { type: "object" },
        { type: "array", items: { anyOf: plainValues } },
      ],
    },
    ["rewritten /properties/p: The description says that no value is accepted."],
  ],
  ["five", 5, anything, ["rewritten /properties/p: 5 is not a schema: any value is accepted."]],
  [
    "unknown keyword and invalid value",
    { type: "string", "x-a": 1, minLength: -1 },
    string,
    ["removed /minLength: -1 is not a valid value.", "removed /x-a: The Gemini API does not know the keyword."],
  ],
  [
    "foreign",
    {
      type: "boolean",
      minimum: 1,
      format: "date-time",
      items: string,
      properties: { a: string },
      required: ["a"],
      enum: [true],
    },
    { type: "boolean", description: "Must be true. Format: date-time." },
    [
      "moved /enum: The description says: Must be true.",
      told("format", "Format: date-time."),
      "removed /minimum: The keyword does not apply to: boolean.",
      "removed /items: The keyword does not apply to: boolean.",
      "removed /properties: The keyword does not apply to: boolean.",
      "removed /required: The keyword does not apply to: boolean.",
      "removed /properties/a: The keyword does not apply to: boolean.",
    ],
  ],
  [
    "impossible bounds",
    { type: "number", minimum: 5, maximum: 1 },
    { type: "number", description: "At least 5 and at most 1." },
    [
      "moved /minimum: No value satisfies both bounds; the description says: At least 5 and at most 1.",
      "moved /maximum: No value satisfies both bounds; the description says: At least 5 and at most 1.",
    ],
  ],
  [
    "impossible counts",
    { type: "array", items: string, minItems: 5, maxItems: 1 },
    { type: "array", description: "At least 5 and at most 1 items.", items: string },
    [
      "moved /minItems: No value satisfies both bounds; the description says: At least 5 and at most 1 items.",
      "moved /maxItems: No value satisfies both bounds; the description says: At least 5 and at most 1 items.",
    ],
  ],
  [
    "required unknown",
    { type: "object", required: ["a", "b"] },
    { type: "object", properties: { a: anything, b: anything }, required: ["a", "b"] },
    ["rewritten /required: Required properties without a schema now accept any value: a, b."],
  ],
  [
    "required closed",
    { type: "object", properties: { a: string }, required: ["a", "b"], additionalProperties: false },
    { type: "object", properties: { a: string }, required: ["a"] },
    [
      "removed /additionalProperties: The model gets only the named properties.",
      "rewritten /required: Some properties are not required any more, because the schema does not allow them: b.",
    ],
  ],
  [
    "no type",
    { minimum: 1 },
    { type: "number", minimum: 1 },
    ["added /type: The other keywords of the schema apply to: number."],
  ],
  [
    "names",
    { type: "object", properties: { "a b": string, "1x": number }, required: ["c d"] },
    { type: "object", properties: { a_b: string, _1x: number, c_d: anything }, required: ["c_d"] },
    [
      'renamed /properties/a b: The name for the model is "a_b".',
      'renamed /properties/1x: The name for the model is "_1x".',
      'renamed /required/c d: The name for the model is "c_d".',
      "rewritten /required: Required properties without a schema now accept any value: c d.",
    ],
  ],
  [
    "cycle",
    {
      type: "object",
      properties: { next: { $ref: "#/properties/p" }, list: { $ref: "#/properties/p", description: "D." } },
    },
    {
      type: "object",
      properties: {
        next: { type: "object", description: "A value of this form again: {next?: p, list?: p}." },
        list: { type: "object", description: "D.\nA value of this form again: {next?: p, list?: p}." },
      },
    },
    [
      "rewritten /properties/next/$ref: The reference is part of a cycle; a note in the description replaces it.",
      "merged /properties/list/$ref: The reference is part of a cycle; a note in the description replaces it.",
    ],
  ],
  [
    "reference elsewhere",
    { $ref: "https://example.com/a" },
    anything,
    [
      'removed /$ref: The reference leads to "https://example.com/a", which is not part of this schema and is not fetched.',
    ],
  ],
  [
    "definitions",
    { $defs: { a: string, b: number }, $ref: "#/properties/p/$defs/a" },
    string,
    [
      "merged /$ref: The target replaces the reference.",
      "rewritten /$defs: References are replaced by their targets.",
      "removed /$defs/b: Nothing refers to this definition.",
    ],
  ],
  [
    "definitions unused",
    { type: "string", definitions: { a: string } },
    string,
    ["removed /definitions: Nothing refers to this definition."],
  ],
])("the rules of an object or a list and their repairs are reported: %s", (_what, raw, schema, repairs) => {
  expect(reportedOf(raw)).toEqual({ schema, repairs });
});

test("for OpenAI-compatible endpoints, a tuple is told in the description and its items are joined", () => {
  const raw = { type: "array", prefixItems: [string, number], items: { type: "boolean" } };
  expect(reportedOf(raw, "openai")).toEqual({
    schema: {
      type: "array",
      description: "In order: string, number.",
      items: { anyOf: [string, number, { type: "boolean" }] },
    },
    repairs: [
      "moved /prefixItems: At least one OpenAI-compatible endpoint does not accept the keyword; the description says: In order: string, number.",
    ],
  });
});
