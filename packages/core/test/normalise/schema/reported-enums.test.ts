import { expect, test } from "vitest";
import { anything, plainValues, reportedOf } from "../../support/compiled.ts";

const string = { type: "string" };
const number = { type: "number" };

type Row = readonly [what: string, raw: unknown, schema: unknown, repairs: readonly string[]];

test.each<Row>([
  [
    "draft 3",
    { type: "object", properties: { a: { type: "string", required: true }, b: { type: "string", required: false } } },
    { type: "object", properties: { a: string, b: string }, required: ["a"] },
    [
      "removed /properties/a/required: true is not a valid value.",
      "removed /properties/b/required: false is not a valid value.",
    ],
  ],
  [
    "spellings",
    {
      anyOf: [
        { type: "str", title: "t0" },
        { type: "text", title: "t1" },
        { type: "int", title: "t2" },
        { type: "long", title: "t3" },
        { type: "float", title: "t4" },
        { type: "double", title: "t5" },
        { type: "bool", title: "t6" },
        { type: "dict", title: "t7" },
        { type: "list", title: "t8" },
        { type: "any", title: "t9" },
      ],
    },
    {
      anyOf: [
        { type: "string", title: "t0" },
        { type: "string", title: "t1" },
        { type: "integer", title: "t2" },
        { type: "integer", title: "t3" },
        { type: "number", title: "t4" },
        { type: "number", title: "t5" },
        { type: "boolean", title: "t6" },
        { type: "object", title: "t7" },
        { type: "array", title: "t8", items: { anyOf: plainValues } },
        {
          title: "t9",
          anyOf: [
            string,
            number,
            { type: "boolean" },
            { type: "object" },
            { type: "array", items: { anyOf: plainValues } },
          ],
        },
      ],
    },
    [
      "rewritten /anyOf/0/type: The type is now written as in JSON Schema.",
      "rewritten /anyOf/1/type: The type is now written as in JSON Schema.",
      "rewritten /anyOf/2/type: The type is now written as in JSON Schema.",
      "rewritten /anyOf/3/type: The type is now written as in JSON Schema.",
      "rewritten /anyOf/4/type: The type is now written as in JSON Schema.",
      "rewritten /anyOf/5/type: The type is now written as in JSON Schema.",
      "rewritten /anyOf/6/type: The type is now written as in JSON Schema.",
      "rewritten /anyOf/7/type: The type is now written as in JSON Schema.",
      "rewritten /anyOf/8/type: The type is now written as in JSON Schema.",
      "removed /anyOf/9/type: The type restricts nothing: it names no JSON Schema type, or all of them.",
    ],
  ],
  [
    "types any among",
    { type: ["string", "any"] },
    anything,
    ["removed /type: The type restricts nothing: it names no JSON Schema type, or all of them."],
  ],
  [
    "types none known",
    { type: ["date"] },
    anything,
    ["removed /type: The type restricts nothing: it names no JSON Schema type, or all of them."],
  ],
  [
    "long title",
    { type: "string", title: "t".repeat(301), description: "d" },
    { type: "string", title: `${"t".repeat(255)}…`, description: "d" },
    ["rewritten /title: Cut to 256 characters."],
  ],
  [
    "both impossible",
    { type: ["number", "array"], minimum: 2, maximum: 1, items: string, minItems: 2, maxItems: 1 },
    {
      description: "At least 2 and at most 1. At least 2 and at most 1 items.",
      anyOf: [number, { type: "array", items: string }],
    },
    [
      "rewritten /type: Each type becomes one alternative.",
      "moved /minimum: No value satisfies both bounds; the description says: At least 2 and at most 1. At least 2 and at most 1 items.",
      "moved /maximum: No value satisfies both bounds; the description says: At least 2 and at most 1. At least 2 and at most 1 items.",
      "moved /minItems: No value satisfies both bounds; the description says: At least 2 and at most 1. At least 2 and at most 1 items.",
      "moved /maxItems: No value satisfies both bounds; the description says: At least 2 and at most 1. At least 2 and at most 1 items.",
    ],
  ],
  [
    "equal bounds",
    { type: ["number", "array"], minimum: 2, maximum: 2, items: string, minItems: 1, maxItems: 1 },
    {
      anyOf: [
        { type: "number", minimum: 2, maximum: 2 },
        { type: "array", items: string, minItems: 1, maxItems: 1 },
      ],
    },
    ["rewritten /type: Each type becomes one alternative."],
  ],
  [
    "enum object and text",
    { enum: ["a", { x: 1 }, [2]] },
    {
      description: 'May also be {"x":1} or [2].',
      anyOf: [{ type: "string", enum: ["a"] }, { type: "object" }, { type: "array", items: { anyOf: plainValues } }],
    },
    ['moved /enum: The description says: May also be {"x":1} or [2].'],
  ],
  [
    "enum null and text",
    { enum: [null, "a"] },
    { anyOf: [{ type: "null" }, { type: "string", enum: ["a"] }] },
    ["rewritten /enum: The API's enum takes non-empty strings or numbers."],
  ],
  ["enum fraction and whole", { enum: [1, 2.5] }, { type: "number", enum: [1, 2.5] }, []],
  [
    "enum fitting",
    { type: "integer", enum: [1, "a", 2.5] },
    { type: "integer", enum: [1] },
    ["rewritten /enum: The API's enum takes non-empty strings or numbers."],
  ],
  [
    "enum both flags",
    { enum: [true, false] },
    { type: "boolean" },
    ["rewritten /enum: The type of the schema already says this."],
  ],
  [
    "enum five objects",
    { enum: [{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }, { a: 5 }] },
    { type: "object", description: 'Must be {"a":1}, {"a":2}, {"a":3}, {"a":4} or {"a":5}.' },
    ['moved /enum: The description says: Must be {"a":1}, {"a":2}, {"a":3}, {"a":4} or {"a":5}.'],
  ],
  [
    "enum six objects",
    { enum: [{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }, { a: 5 }, { a: 6 }] },
    { type: "object", description: 'Must be {"a":1}, {"a":2}, {"a":3}, {"a":4}, {"a":5} or another allowed value.' },
    [
      'moved /enum: The description says: Must be {"a":1}, {"a":2}, {"a":3}, {"a":4}, {"a":5} or another allowed value.',
    ],
  ],
  [
    "const not enum",
    { enum: ["b"], const: "a" },
    { type: "string", enum: ["a"] },
    [
      "rewritten /enum: The const of the same schema is stricter.",
      "rewritten /const: The value is written as an enum with one value.",
    ],
  ],
])("the type and the allowed values are reported: %s", (_what, raw, schema, repairs) => {
  expect(reportedOf(raw)).toEqual({ schema, repairs });
});
