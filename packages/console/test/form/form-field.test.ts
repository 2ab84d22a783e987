import { describe, expect, test } from "vitest";
import { type FieldInput, fieldsOf } from "../../src/form/form-field.ts";

const inputOf = (schema: unknown, definitions: object = {}): FieldInput | undefined =>
  fieldsOf({ properties: { field: schema }, $defs: definitions })[0]?.input;

test("a field has the texts, the default and the input of its schema, and the required one is the first", () => {
  const full = { type: "boolean", title: "The title", description: "what it does", default: false };
  const empty = { type: "boolean", title: "", description: "", default: null };
  const wrong = { type: "boolean", title: 7, description: ["no text"] };
  expect(fieldsOf({ properties: { full, empty, wrong }, required: ["empty"] })).toEqual([
    { name: "empty", title: "empty", isRequired: true, isSecret: false, default: null, input: { kind: "switch" } },
    {
      name: "full",
      title: "The title",
      description: "what it does",
      isRequired: false,
      isSecret: false,
      default: false,
      input: { kind: "switch" },
    },
    { name: "wrong", title: "wrong", isRequired: false, isSecret: false, input: { kind: "switch" } },
  ]);
});

describe("the input of a field", () => {
  const choices = [
    { value: "a", title: "a" },
    { value: "b", title: "b" },
  ];
  test.each<[schema: object, input: FieldInput]>([
    [{ type: "string" }, { kind: "text" }],
    [
      { type: "string", format: "uri", minLength: 1, maxLength: 9, minimum: 3 },
      { kind: "text", format: "uri", minLength: 1, maxLength: 9 },
    ],
    [{ type: "string", format: "regex", minLength: "1" }, { kind: "text" }],
    [
      { type: "number", minimum: 0, maximum: 9, minLength: 3 },
      { kind: "number", isInteger: false, minimum: 0, maximum: 9 },
    ],
    [{ type: "integer" }, { kind: "number", isInteger: true }],
    [{ type: ["boolean", "null"] }, { kind: "switch" }],
    [
      { type: "string", enum: ["a", "b"] },
      { kind: "choice", choices },
    ],
    [
      { oneOf: [{ const: "a" }], anyOf: [{ const: "b", title: "" }] },
      { kind: "choice", choices },
    ],
    [
      { enum: [1, null, "x", { a: 1 }], enumNames: ["One", "", 3] },
      {
        kind: "choice",
        choices: [
          { value: 1, title: "One" },
          { value: null, title: "null" },
          { value: "x", title: "x" },
          { value: { a: 1 }, title: '{"a":1}' },
        ],
      },
    ],
    [
      { type: "array", items: { enum: ["a", "b"] }, minItems: 1, maxItems: 2, minimum: 3 },
      { kind: "choices", choices, minItems: 1, maxItems: 2 },
    ],
    [
      { type: ["null", "array"], items: { enum: ["a", "b"] } },
      { kind: "choices", choices },
    ],
  ])("of %j", (schema, input) => {
    expect(inputOf(schema)).toEqual(input);
  });

  test.each<[schema: object]>([
    [{}],
    [{ type: "object" }],
    [{ type: "array", items: { type: "string" } }],
    [{ type: ["string", "number"] }],
    [{ type: ["array", "string"], items: { enum: ["a", "b"] } }],
    [{ const: "a" }],
    [{ anyOf: [{ const: "a" }, { type: "string" }] }],
    [{ anyOf: [{ const: "a" }, 7] }],
    [{ enum: [] }],
  ])("of %j is JSON", (schema) => {
    expect(inputOf(schema)).toMatchObject({ kind: "json", schema });
  });

  test("follows references to the definitions of the schema", () => {
    const small = { const: "s", title: "Small" };
    const definitions = { small, size: { oneOf: [{ $ref: "#/$defs/small" }] } };
    const choices = [{ value: "s", title: "Small" }];
    expect(inputOf({ $ref: "#/$defs/size" }, definitions)).toEqual({ kind: "choice", choices });
    expect(inputOf({ type: "array", items: { $ref: "#/$defs/size" } }, definitions)).toEqual({
      kind: "choices",
      choices,
    });
  });
});
