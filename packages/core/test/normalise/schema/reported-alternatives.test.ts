import { expect, test } from "vitest";
import { plainValues, reportedOf } from "../../support/compiled.ts";

const string = { type: "string" };
const number = { type: "number" };

/** The report about a rule that the schema for the model says in the description. */
const told = (keyword: string, sentence: string): string =>
  `moved /${keyword}: The Gemini API does not accept the keyword; the description says: ${sentence}`;

type Row = readonly [what: string, raw: unknown, schema: unknown, repairs: readonly string[]];

test.each<Row>([
  [
    "nested properties of alternatives",
    {
      type: "object",
      properties: { o: { type: "object", properties: { x: string } } },
      anyOf: [
        { properties: { o: { properties: { y: number } } } },
        { properties: { o: { properties: { z: number } }, q: string }, required: ["q"] },
      ],
    },
    {
      type: "object",
      description: "One of: {o?: {y?: number}} or {q: string, o?: {z?: number}}.",
      properties: { o: { type: "object", properties: { x: string, y: number, z: number } }, q: string },
    },
    [
      "merged /anyOf: The properties of the alternatives are merged; the description says which belong together.",
      "merged /anyOf/0/properties/o: This schema is merged with another schema for the same value.",
      "merged /anyOf/1/properties/o: This schema is merged with another schema for the same value.",
    ],
  ],
  [
    "nested properties of one alternative",
    {
      type: "object",
      properties: { o: { type: "object", properties: { x: string } }, l: { type: "array", items: string } },
      anyOf: [
        { properties: { o: { properties: { y: number } }, l: { items: { properties: { z: string } } } } },
        { properties: { q: string } },
      ],
    },
    {
      type: "object",
      description: "One of: {o?: {y?: number}, l?: {z?: string}[]} or {q?: string}.",
      properties: {
        o: { type: "object", properties: { x: string, y: number } },
        l: {
          anyOf: [
            { type: "array", items: string },
            { type: "array", items: { type: "object", properties: { z: string } } },
          ],
        },
        q: string,
      },
    },
    [
      "merged /anyOf: The properties of the alternatives are merged; the description says which belong together.",
      "merged /anyOf/0/properties/o: This schema is merged with another schema for the same value.",
      "merged /anyOf/0/properties/l: This schema is merged with another schema for the same value.",
      "added /anyOf/0/properties/l/type: The other keywords of the schema apply to: array.",
      "added /anyOf/0/properties/l/items/type: The other keywords of the schema apply to: object.",
    ],
  ],
  [
    "required by all alternatives",
    { type: "object", properties: { a: string, b: string }, anyOf: [{ required: ["a"] }, { required: ["a", "b"] }] },
    { type: "object", description: "One of: {a} or {a, b}.", properties: { a: string, b: string }, required: ["a"] },
    ["merged /anyOf: The properties of the alternatives are merged; the description says which belong together."],
  ],
  [
    "alternatives that are no objects",
    {
      type: "object",
      properties: { a: string },
      anyOf: [string, { type: "array", items: { properties: { c: string } } }],
    },
    { type: "object", description: "One of: string or {c?: string}[].", properties: { a: string } },
    [
      "merged /anyOf: The properties of the alternatives are merged; the description says which belong together.",
      "removed /anyOf/1: The alternatives become one object, which keeps only their properties.",
      "removed /anyOf/0: The alternatives become one object, which keeps only their properties.",
    ],
  ],
  [
    "alternatives within alternatives",
    {
      type: "object",
      properties: { a: string },
      anyOf: [{ anyOf: [{ properties: { b: string } }, { properties: { c: string } }] }, { properties: { d: string } }],
    },
    {
      type: "object",
      description: "One of: {b?: string} | {c?: string} or {d?: string}.",
      properties: { a: string, b: string, c: string, d: string },
    },
    [
      "merged /anyOf: The properties of the alternatives are merged; the description says which belong together.",
      "merged /anyOf/0/anyOf/0: This schema is merged with another schema for the same value.",
      "merged /anyOf/0/anyOf/1: This schema is merged with another schema for the same value.",
    ],
  ],
  [
    "titles of equal alternatives",
    {
      title: "T",
      anyOf: [
        { type: "string", title: "A" },
        { type: "string", title: "A" },
      ],
    },
    { type: "string", title: "T" },
    [
      "merged /anyOf: The alternatives are the same.",
      "merged /anyOf/0: This schema is merged with another schema for the same value.",
      "merged /anyOf/1: This schema is merged with another schema for the same value.",
    ],
  ],
  [
    "reference with rules",
    {
      type: "array",
      items: { $ref: "#/properties/p/$defs/x", minLength: 1 },
      $defs: { x: { type: "string", title: "X" } },
    },
    { type: "array", items: { type: "string", title: "X", description: "At least 1 character." } },
    [
      told("items/minLength", "At least 1 character."),
      "merged /items/$ref: The target replaces the reference.",
      "rewritten /$defs: References are replaced by their targets.",
    ],
  ],
  [
    "reference twice",
    {
      properties: { a: { $ref: "#/properties/p/$defs/x" }, b: { $ref: "#/properties/p/$defs/x" } },
      $defs: { x: { type: "string", minLength: 1 } },
    },
    {
      type: "object",
      properties: {
        a: { type: "string", description: "At least 1 character." },
        b: { type: "string", description: "At least 1 character." },
      },
    },
    [
      told("$defs/x/minLength", "At least 1 character."),
      "rewritten /properties/a/$ref: The target replaces the reference.",
      "rewritten /properties/b/$ref: The target replaces the reference.",
      "rewritten /$defs: References are replaced by their targets.",
      "added /type: The other keywords of the schema apply to: object.",
    ],
  ],
  [
    "cycle of a list",
    { type: "array", items: { $ref: "#/properties/p" } },
    {
      type: "array",
      items: { type: "array", description: "A value of this form again: p[].", items: { anyOf: plainValues } },
    },
    ["rewritten /items/$ref: The reference is part of a cycle; a note in the description replaces it."],
  ],
  [
    "cycle without a type",
    { properties: { a: { $ref: "#/properties/p" } } },
    { type: "object", properties: { a: { type: "object", description: "A value of this form again: {a?: p}." } } },
    [
      "rewritten /properties/a/$ref: The reference is part of a cycle; a note in the description replaces it.",
      "added /type: The other keywords of the schema apply to: object.",
    ],
  ],
  [
    "cycle of alternatives",
    { anyOf: [string, { type: "array", items: { $ref: "#/properties/p" } }] },
    {
      anyOf: [
        string,
        { type: "array", items: { description: "A value of this form again: string | p[].", anyOf: plainValues } },
      ],
    },
    ["rewritten /anyOf/1/items/$ref: The reference is part of a cycle; a note in the description replaces it."],
  ],
  [
    "dependencies with schemas",
    {
      type: "object",
      properties: { a: string, b: string },
      dependencies: { a: ["b"], b: { properties: { c: number } }, d: true, e: {} },
    },
    {
      type: "object",
      description: 'With "a", "b" must be given too. With "b": {c?: number}.',
      properties: { a: string, b: string, c: number },
    },
    ['moved /dependencies: The description says: With "a", "b" must be given too. With "b": {c?: number}.'],
  ],
  [
    "required by an alternative",
    {
      type: "object",
      properties: { a: string },
      anyOf: [{ required: ["x"] }, { required: ["y"] }],
      additionalProperties: false,
    },
    { type: "object", description: "One of: {x} or {y}.", properties: { a: string } },
    [
      "removed /additionalProperties: The model gets only the named properties.",
      "merged /anyOf: The properties of the alternatives are merged; the description says which belong together.",
    ],
  ],
])("alternatives and references and their repairs are reported: %s", (_what, raw, schema, repairs) => {
  expect(reportedOf(raw)).toEqual({ schema, repairs });
});
