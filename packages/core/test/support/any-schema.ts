/** Strange schemas, for the properties that must hold whatever a server sends. */

import type { JsonObject } from "@fairlead/wire";
import fc from "fast-check";

const names = fc.constantFrom(
  "a",
  "b",
  "a_b",
  "a-b",
  "a b",
  "1",
  "",
  "é",
  "a\u200bb",
  "type",
  "properties",
  "$ref",
  "required",
  "default",
  "items",
  "constructor",
  "__proto__",
  "x".repeat(70),
  `${"x".repeat(69)}y`,
);

const value = fc.oneof(
  fc.constantFrom<unknown>("", "red", "green", "gr\u200been", 0, 1, 2.5, true, false, null),
  fc.constantFrom<unknown>([], [1], {}, { a: 1 }),
);

const typeName = fc.constantFrom("string", "number", "integer", "boolean", "object", "array", "null", "any", "STRING");
const reference = fc.constantFrom(
  "#",
  "#/$defs/a",
  "#/$defs/b",
  "#/definitions/a",
  "#/properties/a",
  "#/properties/a/items",
  "#here",
  "#/$defs/none",
  "https://example.com/schema.json",
);

/** Anything at all in the place of anything: one time in twenty. */
const or = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 19, arbitrary }, { weight: 1, arbitrary: value });

function mapOf<T>(member: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc
    .array(fc.tuple(names, member), { maxLength: 3 })
    .map((entries) => Object.fromEntries(entries) as Record<string, T>);
}

const { schema } = fc.letrec<{ schema: unknown; object: JsonObject }>((tie) => {
  const inner = tie("schema");
  const list = fc.array(inner, { maxLength: 3 });
  const map = mapOf(inner);
  const count = fc.nat(5);
  const number = fc.constantFrom(-1, 0, 1.5, 10);
  const keywords = new Map<string, fc.Arbitrary<unknown>>([
    ["type", fc.oneof(typeName, typeName, fc.array(typeName, { maxLength: 3 }))],
    ["title", fc.constantFrom("Title", "Other", "Ti\u202etle")],
    ["description", fc.constantFrom("What it is.", "Something else.", "Some\u0007thing.")],
    ["default", value],
    ["examples", fc.array(value, { maxLength: 2 })],
    ["deprecated", fc.boolean()],
    ["readOnly", fc.boolean()],
    ["nullable", fc.boolean()],
    ["enum", fc.array(value, { maxLength: 4 })],
    ["const", value],
    ["minimum", number],
    ["maximum", number],
    ["exclusiveMinimum", fc.oneof(number, fc.boolean())],
    ["exclusiveMaximum", fc.oneof(number, fc.boolean())],
    ["multipleOf", number],
    ["format", fc.constantFrom("date-time", "uuid", "int32", "double", "enum")],
    ["minLength", count],
    ["maxLength", count],
    ["pattern", fc.constantFrom("^a", "[", "\u200b")],
    ["contentEncoding", fc.constant("base64")],
    ["items", fc.oneof(inner, list)],
    ["prefixItems", list],
    ["additionalItems", inner],
    ["unevaluatedItems", inner],
    ["minItems", count],
    ["maxItems", count],
    ["uniqueItems", fc.boolean()],
    ["contains", inner],
    ["minContains", count],
    ["properties", map],
    ["required", fc.array(names, { maxLength: 3 })],
    ["additionalProperties", fc.oneof(fc.boolean(), inner)],
    ["unevaluatedProperties", fc.boolean()],
    ["patternProperties", map],
    ["propertyNames", inner],
    ["minProperties", count],
    ["dependentRequired", mapOf(fc.array(names, { maxLength: 2 }))],
    ["dependentSchemas", map],
    ["dependencies", mapOf(fc.oneof(inner, fc.array(names, { maxLength: 2 })))],
    ["allOf", list],
    ["anyOf", list],
    ["oneOf", list],
    ["not", inner],
    ["if", inner],
    ["then", inner],
    ["else", inner],
    ["$ref", reference],
    ["$defs", mapOf(inner)],
    ["definitions", mapOf(inner)],
    ["$id", fc.constantFrom("https://example.com/root.json", "part.json")],
    ["$anchor", fc.constant("here")],
    ["$comment", fc.constant("for us")],
    ["$schema", fc.constant("http://json-schema.org/draft-07/schema#")],
    ["discriminator", fc.constant({ propertyName: "a" })],
    ["x-order", fc.nat(3)],
    ["unknown", value],
  ]);
  const frequent = ["type", "properties", "items", "anyOf", "allOf", "required", "$ref", "enum", "description"];
  const keyword = fc
    .oneof(fc.constantFrom(...keywords.keys()), fc.constantFrom(...frequent))
    .chain((name) => fc.tuple(fc.constant(name), or(keywords.get(name) ?? value)));
  const object = fc.array(keyword, { maxLength: 5 }).map((entries): JsonObject => Object.fromEntries(entries));
  return {
    object,
    schema: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      { weight: 1, arbitrary: fc.constantFrom<unknown>(true, false, {}) },
      { weight: 5, arbitrary: object },
    ),
  };
});

/** The arguments of a tool: mostly an object with properties and definitions, sometimes anything. */
export const anySchema: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(schema, mapOf(schema), mapOf(schema))
      .map(([raw, properties, $defs]): unknown => ({ type: "object", properties, $defs, ...Object(raw) })),
  },
  { weight: 2, arbitrary: schema },
);
