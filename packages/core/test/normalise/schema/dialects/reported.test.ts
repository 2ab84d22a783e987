import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { compiledOf } from "../../../support/compiled.ts";

const string = { type: "string" };
const number = { type: "number" };

test.each<readonly [what: string, raw: JsonObject, schema: JsonObject, repairs: readonly string[]]>([
  [
    "older keywords",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      id: "a",
      definitions: { x: string },
      properties: { q: { $schema: "y", $ref: "#/definitions/x" } },
    },
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "a",
      $defs: { x: string },
      properties: { q: { $ref: "#/$defs/x" } },
    },
    [
      "rewritten /$schema: The schema is now written in draft 2020-12.",
      "rewritten /id: Renamed to $id.",
      "rewritten /definitions: Renamed to $defs.",
      "removed /properties/q/$schema: Only $schema at the root counts.",
      'rewritten /properties/q/$ref: Replaced by "#/$defs/x".',
    ],
  ],
  [
    "bounds of draft 4",
    {
      properties: {
        q: { minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: false },
        r: { maximum: 5, exclusiveMaximum: true },
        t: { exclusiveMinimum: true },
        u: { exclusiveMinimum: 1, minimum: 2 },
      },
    },
    {
      properties: {
        q: { exclusiveMinimum: 1, maximum: 5 },
        r: { exclusiveMaximum: 5 },
        t: {},
        u: { exclusiveMinimum: 1, minimum: 2 },
      },
    },
    [
      "rewritten /properties/q/minimum: exclusiveMinimum replaces minimum, or exclusiveMaximum replaces maximum.",
      "rewritten /properties/q/exclusiveMinimum: The value true of draft 4 is replaced by the number in minimum or maximum.",
      "removed /properties/q/exclusiveMaximum: The keyword has no effect: its value is false, or the limit is missing.",
      "rewritten /properties/r/maximum: exclusiveMinimum replaces minimum, or exclusiveMaximum replaces maximum.",
      "rewritten /properties/r/exclusiveMaximum: The value true of draft 4 is replaced by the number in minimum or maximum.",
      "removed /properties/t/exclusiveMinimum: The keyword has no effect: its value is false, or the limit is missing.",
    ],
  ],
  [
    "tuples",
    {
      properties: {
        q: { items: [string], additionalItems: number },
        r: { items: string, additionalItems: number },
        t: { items: [] },
        u: { items: [number], prefixItems: [string], additionalItems: false },
      },
    },
    {
      properties: {
        q: { prefixItems: [string], items: number },
        r: { items: string },
        t: {},
        u: { prefixItems: [string] },
      },
    },
    [
      "rewritten /properties/q/items: items with a list of schemas is now called prefixItems.",
      "rewritten /properties/q/additionalItems: additionalItems is now called items.",
      "removed /properties/r/additionalItems: additionalItems has no effect: items is not a list of schemas, or prefixItems is given.",
      "removed /properties/t/items: items has no effect: it is an empty list, or prefixItems is given.",
      "removed /properties/u/items: items has no effect: it is an empty list, or prefixItems is given.",
      "removed /properties/u/additionalItems: additionalItems has no effect: items is not a list of schemas, or prefixItems is given.",
    ],
  ],
  [
    "dependencies",
    {
      dependencies: { a: ["b"], c: { required: ["d"] }, e: { required: ["f"] } },
      dependentSchemas: { c: { title: "own" } },
    },
    { dependentRequired: { a: ["b"] }, dependentSchemas: { c: { title: "own" }, e: { required: ["f"] } } },
    ["rewritten /dependencies: The keyword dependencies is replaced by dependentRequired and dependentSchemas."],
  ],
  [
    "dependencies that require names only",
    { dependencies: { a: ["b"] } },
    { dependentRequired: { a: ["b"] } },
    ["rewritten /dependencies: The keyword dependencies is replaced by dependentRequired and dependentSchemas."],
  ],
  [
    "null",
    {
      properties: {
        q: { type: "string", nullable: true },
        r: { nullable: true },
        t: { type: "string", nullable: false },
        u: { type: ["string", "null"], nullable: true },
      },
    },
    { properties: { q: { type: ["string", "null"] }, r: {}, t: string, u: { type: ["string", "null"] } } },
    [
      "rewritten /properties/q/type: The type is now written as in JSON Schema.",
      "rewritten /properties/q/nullable: The type null replaces nullable.",
      "removed /properties/r/nullable: nullable has no effect: its value is not true, or no type is given.",
      "removed /properties/t/nullable: nullable has no effect: its value is not true, or no type is given.",
      "rewritten /properties/u/nullable: The type null replaces nullable.",
    ],
  ],
  [
    "types",
    { properties: { q: { type: "int" }, r: { type: "any" }, t: { type: ["string"] }, u: { type: ["string", "STR"] } } },
    { properties: { q: { type: "integer" }, r: {}, t: string, u: string } },
    [
      "rewritten /properties/q/type: The type is now written as in JSON Schema.",
      "removed /properties/r/type: The type restricts nothing: it names no JSON Schema type, or all of them.",
      "rewritten /properties/t/type: The type is now written as in JSON Schema.",
      "rewritten /properties/u/type: The type is now written as in JSON Schema.",
    ],
  ],
  [
    "values that do not fit",
    { properties: { q: { minLength: -1, required: ["a", "a"], enum: [] }, r: 7 } },
    { properties: { q: {}, r: {} } },
    [
      "removed /properties/q/minLength: -1 is not a valid value.",
      'removed /properties/q/required: ["a","a"] is not a valid value.',
      "removed /properties/q/enum: [] is not a valid value.",
      "rewritten /properties/r: 7 is not a schema: any value is accepted.",
    ],
  ],
  [
    "references",
    {
      properties: {
        q: { $ref: "https://example.com/x" },
        r: { $recursiveRef: "#" },
        t: { $ref: "#/properties/u/items/0" },
        u: { items: [number], prefixItems: [string] },
        v: { $ref: "#/properties/w/additionalItems" },
        w: { items: [string], additionalItems: number },
        x: { $ref: "#/dependencies/a" },
        y: { $ref: "#/examples/0" },
      },
      dependencies: { a: { title: "A" } },
      examples: [{ title: "E" }],
    },
    {
      properties: {
        q: {},
        r: { $ref: "#" },
        t: {},
        u: { prefixItems: [string] },
        v: { $ref: "#/properties/w/items" },
        w: { prefixItems: [string], items: number },
        x: { $ref: "#/dependentSchemas/a" },
        y: { $ref: "#/examples/0" },
      },
      dependentSchemas: { a: { title: "A" } },
      examples: [{ title: "E" }],
    },
    [
      'removed /properties/q/$ref: The reference leads to "https://example.com/x", which is not part of this schema and is not fetched.',
      'rewritten /properties/r/$recursiveRef: Replaced by "#".',
      'removed /properties/t/$ref: The reference leads to "#/properties/u/items/0", which the converted schema does not contain.',
      "removed /properties/u/items: items has no effect: it is an empty list, or prefixItems is given.",
      'rewritten /properties/v/$ref: Replaced by "#/properties/w/items".',
      "rewritten /properties/w/items: items with a list of schemas is now called prefixItems.",
      "rewritten /properties/w/additionalItems: additionalItems is now called items.",
      'rewritten /properties/x/$ref: Replaced by "#/dependentSchemas/a".',
      "rewritten /dependencies: The keyword dependencies is replaced by dependentRequired and dependentSchemas.",
    ],
  ],
  [
    "a type that is not object",
    { type: "string", title: "T" },
    { title: "T" },
    ["rewritten /type: Arguments are an object."],
  ],
  [
    "definitions twice",
    {
      $defs: { x: string },
      definitions: { x: number, y: number, "a#b": string },
      properties: {
        q: { $ref: "#/definitions/x" },
        r: { $ref: "#/definitions/y/title" },
        t: { $ref: "#/definitions/a%23b" },
      },
    },
    {
      $defs: { x_: number, y: number, "a#b": string, x: string },
      properties: { q: { $ref: "#/$defs/x_" }, r: {}, t: { $ref: "#/$defs/a%23b" } },
    },
    [
      "rewritten /definitions: Renamed to $defs.",
      'rewritten /properties/q/$ref: Replaced by "#/$defs/x_".',
      'removed /properties/r/$ref: The reference leads to "#/definitions/y/title", which is not part of this schema and is not fetched.',
      'rewritten /properties/t/$ref: Replaced by "#/$defs/a%23b".',
    ],
  ],
  ["id next to $id", { id: "a", $id: "https://example.com/b" }, { id: "a", $id: "https://example.com/b" }, []],
  ["id that is no text", { id: 5 }, { id: 5 }, []],
])("what draft 2020-12 writes in another way is reported: %s", (_what, raw, schema, repairs) => {
  const compiled = compiledOf({ type: "object", ...raw }, "json-schema-2020-12");
  expect(compiled.schema).toEqual({ type: "object", ...schema });
  // The order of the members is part of the text that a model reads.
  expect(Object.keys(compiled.schema)).toEqual(["type", ...Object.keys(schema)]);
  expect(compiled.repairs.map(({ action, path, keyword, note }) => `${action} ${path}/${keyword}: ${note}`)).toEqual(
    repairs,
  );
});
