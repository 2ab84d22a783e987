import { expect, test } from "vitest";
import { anything, reportedOf } from "../../support/compiled.ts";

const string = { type: "string" };
const number = { type: "number" };

/** The report about a rule that the schema for the model says in the description. */
const told = (keyword: string, sentence: string): string =>
  `moved /${keyword}: The Gemini API does not accept the keyword; the description says: ${sentence}`;

type Row = readonly [what: string, raw: unknown, schema: unknown, repairs: readonly string[]];

test.each<Row>([
  [
    "items of both",
    {
      allOf: [
        { type: "array", items: string, minItems: 1, maxItems: 9 },
        { items: { minLength: 1 }, minItems: 2, maxItems: 8 },
      ],
    },
    { type: "array", items: { type: "string", description: "At least 1 character." }, minItems: 2, maxItems: 8 },
    [
      told("allOf/1/items/minLength", "At least 1 character."),
      "merged /allOf/1/items: This schema is merged with another schema for the same value.",
      "rewritten /minItems: Another rule for the same value is stricter.",
      "rewritten /maxItems: Another rule for the same value is stricter.",
      "merged /allOf: The schemas in allOf are merged into one schema.",
    ],
  ],
  [
    "prefixes of both",
    { allOf: [{ type: "array", prefixItems: [string] }, { prefixItems: [{ minLength: 1 }, number] }] },
    {
      type: "array",
      items: { anyOf: [{ type: "string", description: "At least 1 character." }, number] },
      prefixItems: [{ type: "string", description: "At least 1 character." }, number],
    },
    [
      told("allOf/1/prefixItems/0/minLength", "At least 1 character."),
      "merged /allOf/1/prefixItems/0: This schema is merged with another schema for the same value.",
      "merged /allOf: The schemas in allOf are merged into one schema.",
    ],
  ],
  [
    "items of the second",
    { allOf: [{ type: "array" }, { items: string, title: "T", description: "D." }] },
    { type: "array", title: "T", description: "D.", items: string },
    ["merged /allOf: The schemas in allOf are merged into one schema."],
  ],
  [
    "closed and open",
    { allOf: [{ type: "object", properties: { a: string }, additionalProperties: false }, { required: ["b"] }] },
    { type: "object", properties: { a: string } },
    [
      "removed /allOf/0/additionalProperties: The model gets only the named properties.",
      "merged /allOf: The schemas in allOf are merged into one schema.",
      "rewritten /required: Some properties are not required any more, because the schema does not allow them: b.",
    ],
  ],
  [
    "open and closed",
    { allOf: [{ required: ["b"] }, { type: "object", properties: { a: string }, additionalProperties: false }] },
    { type: "object", properties: { a: string } },
    [
      "removed /allOf/1/additionalProperties: The model gets only the named properties.",
      "merged /allOf: The schemas in allOf are merged into one schema.",
      "rewritten /required: Some properties are not required any more, because the schema does not allow them: b.",
    ],
  ],
  [
    "null in one",
    { allOf: [string, { nullable: true, minLength: 1 }] },
    { description: "At least 1 character.", anyOf: [string, { type: "null" }] },
    [
      "rewritten /allOf/1/nullable: The type null replaces nullable.",
      told("allOf/1/minLength", "At least 1 character."),
      "merged /allOf: The schemas in allOf are merged into one schema.",
    ],
  ],
  [
    "whole numbers",
    { allOf: [{ enum: [1, 2.5] }, { type: "integer" }] },
    { type: "integer", enum: [1] },
    [
      "rewritten /type: Another rule for the same value is stricter.",
      "rewritten /enum: Another rule for the same value is stricter.",
      "merged /allOf: The schemas in allOf are merged into one schema.",
    ],
  ],
  [
    "numbers",
    { allOf: [{ type: "integer" }, { type: "number", minimum: 1 }] },
    { type: "integer", minimum: 1 },
    ["merged /allOf: The schemas in allOf are merged into one schema."],
  ],
  [
    "values without a common one",
    { allOf: [{ enum: ["a"] }, { enum: ["b"] }] },
    { type: "string", enum: ["a", "b"] },
    [
      "moved /enum: This schema contradicts another schema for the same value: either may apply.",
      "moved /type: This schema contradicts another schema for the same value: either may apply.",
      "merged /allOf: The schemas in allOf are merged into one schema.",
      "merged /anyOf: The alternatives are the same.",
    ],
  ],
  [
    "values with a common one",
    { allOf: [{ enum: ["a", "b"] }, { enum: ["b", "c"] }] },
    { type: "string", enum: ["b"] },
    [
      "rewritten /enum: Another rule for the same value is stricter.",
      "merged /allOf: The schemas in allOf are merged into one schema.",
    ],
  ],
  [
    "formats",
    { allOf: [{ type: "string", format: "date-time" }, { format: "date" }] },
    { type: "string", description: "Format: date.", format: "date-time" },
    [told("allOf/1/format", "Format: date."), "merged /allOf: The schemas in allOf are merged into one schema."],
  ],
  [
    "same title",
    { title: "T", allOf: [{ title: "U", type: "string" }] },
    { type: "string", title: "T" },
    ["merged /allOf: The schemas in allOf are merged into one schema."],
  ],
  [
    "alternatives and a rule",
    { anyOf: [string, number], allOf: [{ minLength: 1 }] },
    { description: "At least 1 character.", anyOf: [string, number] },
    [
      told("allOf/0/minLength", "At least 1 character."),
      "merged /allOf: The schemas in allOf are merged into one schema.",
      "rewritten /anyOf: The other rules of the schema are repeated in each alternative.",
    ],
  ],
  [
    "alternatives beside alternatives with properties",
    {
      anyOf: [{ properties: { a: string } }, { properties: { b: string } }],
      oneOf: [{ properties: { c: string } }, { required: ["d"] }],
    },
    { type: "object", properties: { c: string, d: anything, a: string, b: string } },
    [
      "rewritten /oneOf: The other rules of the schema are repeated in each alternative.",
      "merged /anyOf/0: This schema is merged with another schema for the same value.",
      "merged /anyOf/1: This schema is merged with another schema for the same value.",
      "merged /oneOf/0: This schema is merged with another schema for the same value.",
      "merged /oneOf/1: This schema is merged with another schema for the same value.",
      "merged /anyOf: Another schema describes properties of the same object.",
      "added /type: The other keywords of the schema apply to: object.",
    ],
  ],
  [
    "sixteen combinations",
    {
      anyOf: [{ minimum: 1 }, { minimum: 2 }, { minimum: 3 }, { minimum: 4 }],
      oneOf: [{ maximum: 11 }, { maximum: 12 }, { maximum: 13 }, { maximum: 14 }],
    },
    {
      anyOf: [
        { type: "number", minimum: 1, maximum: 11 },
        { type: "number", minimum: 1, maximum: 12 },
        { type: "number", minimum: 1, maximum: 13 },
        { type: "number", minimum: 1, maximum: 14 },
        { type: "number", minimum: 2, maximum: 11 },
        { type: "number", minimum: 2, maximum: 12 },
        { type: "number", minimum: 2, maximum: 13 },
        { type: "number", minimum: 2, maximum: 14 },
        { type: "number", minimum: 3, maximum: 11 },
        { type: "number", minimum: 3, maximum: 12 },
        { type: "number", minimum: 3, maximum: 13 },
        { type: "number", minimum: 3, maximum: 14 },
        { type: "number", minimum: 4, maximum: 11 },
        { type: "number", minimum: 4, maximum: 12 },
        { type: "number", minimum: 4, maximum: 13 },
        { type: "number", minimum: 4, maximum: 14 },
      ],
    },
    [
      "rewritten /oneOf: The other rules of the schema are repeated in each alternative.",
      "merged /oneOf/0: This schema is merged with another schema for the same value.",
      "merged /oneOf/1: This schema is merged with another schema for the same value.",
      "merged /oneOf/2: This schema is merged with another schema for the same value.",
      "merged /oneOf/3: This schema is merged with another schema for the same value.",
      "added /anyOf/0/type: The other keywords of the schema apply to: number.",
      "added /anyOf/1/type: The other keywords of the schema apply to: number.",
      "added /anyOf/2/type: The other keywords of the schema apply to: number.",
      "added /anyOf/3/type: The other keywords of the schema apply to: number.",
    ],
  ],
  [
    "eighteen combinations",
    {
      anyOf: [{ minimum: 1 }, { minimum: 2 }, { minimum: 3 }],
      oneOf: [{ maximum: 11 }, { maximum: 12 }, { maximum: 13 }, { maximum: 14 }, { maximum: 15 }, { maximum: 16 }],
    },
    {
      anyOf: [
        { type: "number", minimum: 1 },
        { type: "number", minimum: 2 },
        { type: "number", minimum: 3 },
      ],
    },
    [
      "rewritten /oneOf: The other rules of the schema are repeated in each alternative.",
      "merged /oneOf/0: This schema is merged with another schema for the same value.",
      "merged /oneOf/1: This schema is merged with another schema for the same value.",
      "merged /oneOf/2: This schema is merged with another schema for the same value.",
      "merged /oneOf/3: This schema is merged with another schema for the same value.",
      "merged /oneOf/4: This schema is merged with another schema for the same value.",
      "merged /oneOf/5: This schema is merged with another schema for the same value.",
      "removed /oneOf/5: This schema contradicts another schema for the same value, or there are too many combinations of alternatives.",
      "removed /oneOf/4: This schema contradicts another schema for the same value, or there are too many combinations of alternatives.",
      "removed /oneOf/3: This schema contradicts another schema for the same value, or there are too many combinations of alternatives.",
      "removed /oneOf/2: This schema contradicts another schema for the same value, or there are too many combinations of alternatives.",
      "removed /oneOf/1: This schema contradicts another schema for the same value, or there are too many combinations of alternatives.",
      "removed /oneOf/0: This schema contradicts another schema for the same value, or there are too many combinations of alternatives.",
      "added /anyOf/0/type: The other keywords of the schema apply to: number.",
      "added /anyOf/1/type: The other keywords of the schema apply to: number.",
      "added /anyOf/2/type: The other keywords of the schema apply to: number.",
    ],
  ],
  [
    "eighteen combinations with nested properties",
    {
      anyOf: [
        { minItems: 1, items: { properties: { a: string } } },
        { minItems: 2, items: { properties: { a: string } } },
        { minItems: 3, items: { properties: { a: string } } },
      ],
      oneOf: [
        { maxItems: 11, items: { properties: { b: number } }, type: "array" },
        { maxItems: 12, items: { properties: { b: number } }, type: "array" },
        { maxItems: 13, items: { properties: { b: number } }, type: "array" },
        { maxItems: 14, items: { properties: { b: number } }, type: "array" },
        { maxItems: 15, items: { properties: { b: number } }, type: "array" },
        { maxItems: 16, items: { properties: { b: number } }, type: "array" },
      ],
    },
    { type: "array", items: { type: "object", properties: { a: string, b: number } } },
    [
      "rewritten /oneOf: The other rules of the schema are repeated in each alternative.",
      "merged /anyOf: There are too many combinations of alternatives, so the properties of all alternatives are allowed.",
      "merged /anyOf/0: This schema is merged with another schema for the same value.",
      "merged /anyOf/1: This schema is merged with another schema for the same value.",
      "merged /anyOf/2: This schema is merged with another schema for the same value.",
      "merged /oneOf/0: This schema is merged with another schema for the same value.",
      "merged /oneOf/1: This schema is merged with another schema for the same value.",
      "merged /oneOf/2: This schema is merged with another schema for the same value.",
      "merged /oneOf/3: This schema is merged with another schema for the same value.",
      "merged /oneOf/4: This schema is merged with another schema for the same value.",
      "merged /oneOf/5: This schema is merged with another schema for the same value.",
      "merged /anyOf/0/items: This schema is merged with another schema for the same value.",
      "merged /anyOf/1/items: This schema is merged with another schema for the same value.",
      "merged /anyOf/2/items: This schema is merged with another schema for the same value.",
      "merged /oneOf/0/items: This schema is merged with another schema for the same value.",
      "merged /oneOf/1/items: This schema is merged with another schema for the same value.",
      "merged /oneOf/2/items: This schema is merged with another schema for the same value.",
      "merged /oneOf/3/items: This schema is merged with another schema for the same value.",
      "merged /oneOf/4/items: This schema is merged with another schema for the same value.",
      "merged /oneOf/5/items: This schema is merged with another schema for the same value.",
      "added /type: The other keywords of the schema apply to: array.",
      "added /anyOf/0/items/type: The other keywords of the schema apply to: object.",
    ],
  ],
])("merged schemas and their repairs are reported: %s", (_what, raw, schema, repairs) => {
  expect(reportedOf(raw)).toEqual({ schema, repairs });
});
