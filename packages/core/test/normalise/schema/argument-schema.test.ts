/** Which required properties a caller may leave out, because the server fills in their default. */

import { scaled, seed } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { argumentSchema } from "../../../src/normalise/schema/argument-schema.ts";
import { compileSchema } from "../../../src/normalise/schema/compile.ts";
import { parametersOf } from "../../../src/normalise/schema/properties.ts";
import { anySchema } from "../../support/any-schema.ts";

const fallback = { type: "string", default: "x" };
/** An object with a required property that has a default, and one that has none. */
const object = { type: "object", properties: { a: fallback, b: {} }, required: ["a", "b"] };
const relaxed = { ...object, required: ["b"] };

test.each<[where: string, schema: JsonObject, expected: JsonObject]>([
  ["of the arguments", object, relaxed],
  ["of a nested object", { properties: { in: object } }, { properties: { in: relaxed } }],
  ["of an item", { items: { items: object } }, { items: { items: relaxed } }],
  ["of an item in a list of schemas", { prefixItems: [true, object] }, { prefixItems: [true, relaxed] }],
  ["of any other member", { additionalProperties: object }, { additionalProperties: relaxed }],
  ["of a definition", { $ref: "#/$defs/o", $defs: { o: object } }, { $ref: "#/$defs/o", $defs: { o: relaxed } }],
  ["of a definition under a keyword of its own", { parts: { o: object } }, { parts: { o: relaxed } }],
  ["of an alternative", { anyOf: [{}, object] }, { anyOf: [{}, relaxed] }],
  ["of a form", { oneOf: [object, { type: "null" }] }, { oneOf: [relaxed, { type: "null" }] }],
  [
    "in a definition",
    { properties: { a: { $ref: "#/$defs/f" } }, required: ["a"], $defs: { f: fallback } },
    { properties: { a: { $ref: "#/$defs/f" } }, required: [], $defs: { f: fallback } },
  ],
  [
    "in an alternative of the property",
    { properties: { a: { anyOf: [{ type: "null" }, fallback] } }, required: ["a"] },
    { properties: { a: { anyOf: [{ type: "null" }, fallback] } }, required: [] },
  ],
  [
    "in a schema around the list of names",
    { properties: { a: fallback }, allOf: [{ anyOf: [{ required: ["a", "c"] }] }] },
    { properties: { a: fallback }, allOf: [{ anyOf: [{ required: ["c"] }] }] },
  ],
  [
    "in a schema beside the list of names",
    { required: ["a"], allOf: [{ properties: { a: fallback } }] },
    { required: [], allOf: [{ properties: { a: fallback } }] },
  ],
  [
    "in a dependency",
    { properties: { a: fallback }, dependentRequired: { b: ["a", "c"] }, dependencies: { c: ["a"] } },
    { properties: { a: fallback }, dependentRequired: { b: ["c"] }, dependencies: { c: [] } },
  ],
  [
    "whose default is null",
    { properties: { a: { default: null } }, required: ["a"] },
    { properties: { a: { default: null } }, required: [] },
  ],
])("a property with a default is not required: %s", (_, schema, expected) => {
  const before = structuredClone(schema);
  expect(argumentSchema(schema)).toEqual(expected);
  expect(schema).toEqual(before);
});

test.each<[what: string, schema: JsonObject]>([
  ["no default", { properties: { a: { type: "string" } }, required: ["a"] }],
  ["a property that is called default", { properties: { a: { properties: { default: {} } } }, required: ["a"] }],
  ["a name that every object inherits", { properties: { a: fallback }, required: ["toString", "__proto__"] }],
  ["a default of the whole object", { default: {}, properties: { a: {} }, required: ["a"] }],
  ["a default of the same name further in", { properties: { a: { properties: { a: fallback } } }, required: ["a"] }],
  ["what must not be given", { properties: { a: fallback }, not: { required: ["a"] } }],
  ["a condition", { properties: { a: fallback }, if: { required: ["a"] }, else: { required: ["b"] } }],
  ["data that looks like a schema", { const: object, enum: [object], default: object, examples: [object] }],
  ["lists that are not names", { properties: { a: fallback }, required: [1, null, ["a"]] }],
  ["a reference to itself", { properties: { a: { $ref: "#/properties/a" } }, required: ["a"] }],
])("stays as it is: %s", (_, schema) => {
  expect(argumentSchema(schema)).toBe(schema);
});

test("the same schema gives the same object, so that what is computed from it is found again", () => {
  const once = argumentSchema(object);
  expect(argumentSchema(object)).toBe(once);
  expect(argumentSchema(once)).toBe(once);
});

describe("whatever a server sends", () => {
  test("no name becomes required, and the second time nothing changes", () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        if (!isObject(schema)) return;
        const once = argumentSchema(schema);
        expect(argumentSchema(structuredClone(once))).toEqual(once);
        const required = new Set(parametersOf(once).flatMap(({ name, required: is }) => (is ? [name] : [])));
        for (const name of required) expect(JSON.stringify(schema)).toContain(JSON.stringify(name));
      }),
      { numRuns: scaled(10_000, 300), seed: seed() },
    );
  });

  test("references that double at each step, and very deep schemas, come to an end", () => {
    const definitions = Array.from({ length: 40 }, (_, at) => {
      const next = { $ref: `#/$defs/d${at + 1}` };
      return [`d${at}`, { anyOf: [next, next], properties: { a: { anyOf: [next, next] } } }];
    });
    const names = Array.from({ length: 200 }, (_, at) => `n${at}`);
    const doubling = { $ref: "#/$defs/d0", $defs: Object.fromEntries(definitions), required: names };
    expect(argumentSchema(doubling)).toBe(doubling);
    let deep: JsonObject = object;
    for (let level = 0; level < 50_000; level += 1) deep = { properties: { in: deep } };
    expect(argumentSchema(deep)).toBe(deep);
  });
});

describe("what a model is told", () => {
  const inputSchema = {
    type: "object",
    properties: { page: { type: "string" }, scale: { type: "string", default: "css" }, area: object },
    required: ["page", "scale", "area"],
  };

  test.each(["gemini", "openai", "anthropic", "json-schema-2020-12"] as const)(
    "for %s a property with a default is optional, and the change is reported",
    (dialect) => {
      const compiled = compileSchema(inputSchema, dialect);
      if (compiled.kind !== "compiled") throw new Error(compiled.reason);
      expect(compiled.schema).toMatchObject({
        required: ["page", "area"],
        properties: { area: { required: ["b"] } },
      });
      expect(compiled.repairs.filter(({ keyword }) => keyword === "required")).toEqual([
        {
          path: "/properties/area",
          keyword: "required",
          action: "rewritten",
          note: 'The server fills in a missing property that has a default: "a".',
        },
        {
          path: "",
          keyword: "required",
          action: "rewritten",
          note: 'The server fills in a missing property that has a default: "scale".',
        },
      ]);
    },
  );
});
