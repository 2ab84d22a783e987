import { expect, test } from "vitest";
import { anything, reportedOf } from "../../support/compiled.ts";

const string = { type: "string" };
const number = { type: "number" };

/** The report about a rule that the schema for the model says in the description. */
const told = (keyword: string, sentence: string): string =>
  `moved /${keyword}: The Gemini API does not accept the keyword; the description says: ${sentence}`;

/** Not as a literal: an object with a member `then` would be taken for a promise. */
function condition(...schemas: readonly unknown[]): Record<string, unknown> {
  const members = ["if", "then", "else"].map((name, index) => [name, schemas[index]] as const);
  return Object.fromEntries(members.filter(([, schema]) => schema !== undefined));
}

type Row = readonly [what: string, raw: unknown, schema: unknown, repairs: readonly string[]];

test.each<Row>([
  [
    "allOf",
    {
      description: "One.",
      allOf: [
        { type: "object", properties: { a: string }, description: "Two." },
        { properties: { a: { minLength: 1 }, b: number }, required: ["b"] },
      ],
    },
    {
      type: "object",
      description: "One.\nTwo.",
      properties: { a: { type: "string", description: "At least 1 character." }, b: number },
      required: ["b"],
    },
    [
      told("allOf/1/properties/a/minLength", "At least 1 character."),
      "merged /allOf/1/properties/a: This schema is merged with another schema for the same value.",
      "merged /allOf: The schemas in allOf are merged into one schema.",
    ],
  ],
  [
    "allOf contradiction",
    {
      allOf: [
        { type: "string", enum: ["a"] },
        { type: "number", minimum: 1 },
      ],
    },
    {
      anyOf: [
        { type: "string", enum: ["a"] },
        { type: "number", minimum: 1 },
      ],
    },
    [
      "moved /enum: This schema contradicts another schema for the same value: either may apply.",
      "moved /type: This schema contradicts another schema for the same value: either may apply.",
      "merged /allOf: The schemas in allOf are merged into one schema.",
    ],
  ],
  [
    "allOf stricter",
    { type: "number", minimum: 1, maximum: 9, allOf: [{ minimum: 2, maximum: 8, type: "integer" }] },
    { type: "integer", minimum: 2, maximum: 8 },
    [
      "rewritten /type: Another rule for the same value is stricter.",
      "rewritten /minimum: Another rule for the same value is stricter.",
      "rewritten /maximum: Another rule for the same value is stricter.",
      "merged /allOf: The schemas in allOf are merged into one schema.",
    ],
  ],
  [
    "oneOf",
    { oneOf: [string, number] },
    { anyOf: [string, number] },
    ["rewritten /oneOf: The API reads oneOf as anyOf."],
  ],
  [
    "anyOf impossible",
    { anyOf: [false, string] },
    string,
    ["removed /anyOf/0: No allowed value matches this alternative.", "merged /anyOf: There is only one alternative."],
  ],
  [
    "oneOf none",
    { oneOf: [false] },
    anything,
    [
      "removed /oneOf/0: No allowed value matches this alternative.",
      "removed /oneOf: None of the alternatives can match.",
    ],
  ],
  [
    "anyOf with type",
    { type: "string", anyOf: [{ enum: ["a"] }, number] },
    { type: "string", enum: ["a"] },
    [
      "rewritten /anyOf: The other rules of the schema are repeated in each alternative.",
      "moved /type: The rule is repeated in each alternative.",
      "removed /anyOf/1: This schema contradicts another schema for the same value, or there are too many combinations of alternatives.",
    ],
  ],
  [
    "anyOf next to properties",
    {
      type: "object",
      properties: { x: number },
      oneOf: [
        { properties: { x: { const: 1 }, a: string }, required: ["a"] },
        string,
        { items: string, properties: { b: string } },
      ],
    },
    {
      type: "object",
      description: "One of: {a: string, x?: 1} or string or {b?: string}.",
      properties: { x: number, a: string, b: string },
    },
    [
      "rewritten /oneOf/0/properties/x/const: The value is written as an enum with one value.",
      "merged /oneOf: The properties of the alternatives are merged; the description says which belong together.",
      "removed /oneOf/2/items: The alternatives become one object, which keeps only their properties.",
      "removed /oneOf/1: The alternatives become one object, which keeps only their properties.",
      "removed /oneOf/0/properties/x: The rules of this schema apply only in some alternatives; the description mentions these rules.",
    ],
  ],
  [
    "not",
    { type: "string", not: { const: "a" } },
    { type: "string", description: 'Must not be: "a".' },
    [told("not", 'Must not be: "a".')],
  ],
  [
    "not nothing",
    { type: "string", not: false },
    string,
    ["removed /not: The keyword has no effect: the value false excludes nothing."],
  ],
  [
    "if then else",
    {
      type: "object",
      properties: { a: string },
      ...condition(
        { properties: { a: { const: "x" } } },
        { properties: { b: number }, required: ["b"] },
        { required: ["c"] },
      ),
    },
    {
      type: "object",
      description: 'If {a?: "x"}, then {b: number}, else {c}.',
      properties: { a: string, b: number, c: anything },
    },
    [
      "rewritten /if/properties/a/const: The value is written as an enum with one value.",
      "removed /if/properties/a: The rules of this schema apply only in some alternatives; the description mentions these rules.",
      told("if", 'If {a?: "x"}, then {b: number}, else {c}.'),
      "moved /then: The description explains this keyword together with the keyword if.",
      "moved /else: The description explains this keyword together with the keyword if.",
    ],
  ],
  [
    "if nothing",
    { type: "object", properties: { a: string }, ...condition({ required: ["a"] }, true) },
    { type: "object", properties: { a: string } },
    [
      "removed /if: The condition has no effect: the schemas in then and else require nothing.",
      "removed /then: The schema in this keyword requires nothing.",
    ],
  ],
  [
    "then alone",
    { type: "object", properties: { a: string }, ...condition(undefined, { required: ["a"] }, true) },
    { type: "object", properties: { a: string } },
    [
      "removed /then: The keywords then and else have no effect without if.",
      "removed /else: The keywords then and else have no effect without if.",
    ],
  ],
  [
    "if false then true",
    { type: "object", properties: { a: string }, ...condition(true, {}, { required: ["a"] }) },
    { type: "object", description: "If anything, else {a}.", properties: { a: string } },
    [
      told("if", "If anything, else {a}."),
      "removed /then: The schema in this keyword requires nothing.",
      "moved /else: The description explains this keyword together with the keyword if.",
    ],
  ],
])("combined schemas and their repairs are reported: %s", (_what, raw, schema, repairs) => {
  expect(reportedOf(raw)).toEqual({ schema, repairs });
});
