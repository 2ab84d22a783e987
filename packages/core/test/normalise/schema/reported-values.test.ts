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
    "words about a value",
    {
      type: "string",
      title: "T",
      default: "a",
      examples: ["a", "b", "c", "d"],
      example: "e",
      deprecated: true,
      readOnly: true,
      writeOnly: true,
      $comment: "c",
      discriminator: {},
      externalDocs: {},
      xml: {},
      propertyOrdering: ["a"],
      $schema: "x",
      $anchor: "y",
    },
    {
      type: "string",
      title: "T",
      description:
        'Default: "a". For example "a", "b" and "c". For example "e". Deprecated. Set by the server only. The value is never shown after it is set.',
    },
    [
      told("default", 'Default: "a".'),
      told("examples", 'For example "a", "b" and "c".'),
      told("example", 'For example "e".'),
      told("deprecated", "Deprecated."),
      told("readOnly", "Set by the server only."),
      told("writeOnly", "The value is never shown after it is set."),
      "removed /$schema: The API accepts only one schema dialect.",
      "removed /$comment: A model does not need this keyword.",
      "removed /discriminator: The alternatives already contain this information.",
      "removed /externalDocs: A model does not need this keyword.",
      "removed /xml: A model does not need this keyword.",
      "removed /$anchor: References are replaced by their targets, so this keyword is not needed.",
      "removed /propertyOrdering: The order of the properties already gives this information.",
    ],
  ],
  [
    "words that say nothing",
    { type: "string", default: null, examples: [], deprecated: false, nullable: false },
    string,
    [
      "removed /default: The default null says the same as no default.",
      "removed /examples: The keyword is empty.",
      "removed /deprecated: The keyword has its default value.",
      "removed /nullable: The keyword has its default value.",
    ],
  ],
  [
    "null",
    { type: "string", nullable: true, description: "D." },
    { description: "D.", anyOf: [string, { type: "null" }] },
    ["rewritten /nullable: The type null replaces nullable."],
  ],
  [
    "invisible",
    { type: "string", title: "a\u200bb", description: "c\u200bd" },
    { type: "string", title: "ab", description: "cd" },
    [
      "rewritten /title: Invisible characters are removed.",
      "rewritten /description: Invisible characters are removed.",
    ],
  ],
  [
    "numbers",
    { type: "number", exclusiveMinimum: 1, exclusiveMaximum: 9, multipleOf: 2 },
    { type: "number", description: "Greater than 1. Less than 9. A multiple of 2.", minimum: 1, maximum: 9 },
    [
      told("exclusiveMinimum", "Greater than 1."),
      told("exclusiveMaximum", "Less than 9."),
      told("multipleOf", "A multiple of 2."),
    ],
  ],
  [
    "whole",
    { type: "integer", minimum: 1, exclusiveMinimum: 1.5, maximum: 9, exclusiveMaximum: 9 },
    { type: "integer", minimum: 2, maximum: 8 },
    [
      "rewritten /minimum: exclusiveMinimum is stricter.",
      'rewritten /exclusiveMinimum: For an integer, this is the same as "minimum": 2.',
      "rewritten /maximum: exclusiveMaximum is stricter.",
      'rewritten /exclusiveMaximum: For an integer, this is the same as "maximum": 8.',
    ],
  ],
  [
    "draft 4 bounds",
    { type: "number", minimum: 1, exclusiveMinimum: true, exclusiveMaximum: true },
    { type: "number", description: "Greater than 1.", minimum: 1 },
    [
      told("exclusiveMinimum", "Greater than 1."),
      "removed /exclusiveMaximum: The keyword has no effect: it contains no limit.",
    ],
  ],
  [
    "texts",
    {
      type: "string",
      minLength: 1,
      maxLength: 2,
      pattern: "^a",
      contentEncoding: "base64",
      contentMediaType: "text/csv",
      contentSchema: { type: "object", properties: { a: string } },
      format: "uri",
    },
    {
      type: "string",
      description:
        "Format: uri. At least 1 character. At most 2 characters. Must match `^a`. Encoded as base64. Holds text/csv. Holds JSON: {a?: string}.",
    },
    [
      told("format", "Format: uri."),
      told("minLength", "At least 1 character."),
      told("maxLength", "At most 2 characters."),
      told("pattern", "Must match `^a`."),
      told("contentEncoding", "Encoded as base64."),
      told("contentMediaType", "Holds text/csv."),
      told("contentSchema", "Holds JSON: {a?: string}."),
    ],
  ],
  [
    "texts one",
    { type: "string", minLength: 2, maxLength: 1, format: "enum" },
    { type: "string", description: "At least 2 characters. At most 1 character." },
    [
      "removed /format: The format adds no rule.",
      told("minLength", "At least 2 characters."),
      told("maxLength", "At most 1 character."),
    ],
  ],
  [
    "texts zero",
    { type: "string", minLength: 0, format: "" },
    string,
    ["removed /format: The format adds no rule.", "removed /minLength: The keyword has its default value."],
  ],
  [
    "formats",
    { anyOf: [{ format: "int32" }, { format: "float" }, { format: "date-time" }] },
    {
      anyOf: [
        { type: "integer", format: "int32" },
        { type: "number", format: "float" },
        { type: "string", format: "date-time" },
      ],
    },
    [
      "added /anyOf/0/type: The other keywords of the schema apply to: integer.",
      "added /anyOf/1/type: The other keywords of the schema apply to: number.",
      "added /anyOf/2/type: The other keywords of the schema apply to: string.",
    ],
  ],
  [
    "enum of kinds",
    { enum: ["a", "", 1, true, null, { x: 1 }] },
    {
      description: 'May also be an empty string. A boolean must be true. May also be {"x":1}.',
      anyOf: [
        { type: "string", enum: ["a"] },
        { type: "integer", enum: [1] },
        { type: "boolean" },
        { type: "null" },
        { type: "object" },
      ],
    },
    ['moved /enum: The description says: May also be an empty string. A boolean must be true. May also be {"x":1}.'],
  ],
  [
    "enum of empty text",
    { enum: [""] },
    { type: "string", description: "Must be an empty string." },
    ["moved /enum: The description says: Must be an empty string."],
  ],
  [
    "enum hidden",
    { enum: ["a\u200b", "b"] },
    { type: "string", enum: ["b"] },
    ["rewritten /enum: A value with invisible characters is not offered."],
  ],
  [
    "enum all hidden",
    { type: "string", enum: ["a\u200b"] },
    { type: "string", description: "The values contain characters that cannot be shown." },
    ["moved /enum: The description says: The values contain characters that cannot be shown."],
  ],
  [
    "enum flags",
    { enum: [true, "x"] },
    { description: "A boolean must be true.", anyOf: [{ type: "boolean" }, { type: "string", enum: ["x"] }] },
    ["moved /enum: The description says: A boolean must be true."],
  ],
  [
    "const true",
    { const: true },
    { type: "boolean", description: "Must be true." },
    ["moved /const: The description says: Must be true."],
  ],
  [
    "const list",
    { const: [1, 2] },
    { type: "array", description: "Must be [1,2].", items: { anyOf: plainValues } },
    ["moved /const: The description says: Must be [1,2]."],
  ],
  [
    "const with enum",
    { const: "a", enum: ["a", "b"] },
    { type: "string", enum: ["a"] },
    [
      "rewritten /enum: The const of the same schema is stricter.",
      "rewritten /const: The value is written as an enum with one value.",
    ],
  ],
  [
    "enum wrong type",
    { type: "string", enum: [1, 2] },
    { type: "integer", enum: [1, 2] },
    ["rewritten /type: The type follows from the allowed values."],
  ],
  ["enum number", { type: "number", enum: [1, 2.5] }, { type: "number", enum: [1, 2.5] }, []],
  [
    "enum repeats",
    { enum: ["a", "a"] },
    { type: "string", enum: ["a"] },
    ["rewritten /enum: The API's enum takes non-empty strings or numbers."],
  ],
  [
    "types",
    { type: ["string", "int", "null"] },
    { anyOf: [string, { type: "integer" }, { type: "null" }] },
    ["rewritten /type: Each type becomes one alternative."],
  ],
  [
    "type any",
    { type: "any" },
    anything,
    ["removed /type: The type restricts nothing: it names no JSON Schema type, or all of them."],
  ],
  [
    "type number and integer",
    { type: ["integer", "number"] },
    number,
    ["rewritten /type: The type is now written as in JSON Schema."],
  ],
  ["type spelled", { type: "STRING" }, string, ["rewritten /type: The type is now written as in JSON Schema."]],
])("the rules of a plain value and their repairs are reported: %s", (_what, raw, schema, repairs) => {
  expect(reportedOf(raw)).toEqual({ schema, repairs });
});
