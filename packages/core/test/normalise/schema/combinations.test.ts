import { describe, expect, test } from "vitest";
import { anything, compiledOf, propertyOf } from "../../support/compiled.ts";

const string = { type: "string" };
const number = { type: "number" };
const point = { type: "object", properties: { x: number }, required: ["x"] };
const named = { type: "object", properties: { name: string } };

describe("alternatives", () => {
  test.each<readonly [what: string, raw: unknown, schema: unknown, repairs: readonly string[]]>([
    ["any of them", { anyOf: [string, number] }, { anyOf: [string, number] }, []],
    ["one of them", { oneOf: [string, number] }, { anyOf: [string, number] }, ["rewritten /oneOf"]],
    ["of one", { anyOf: [string] }, string, ["merged /anyOf"]],
    ["none", { anyOf: [] }, anything, ["removed /anyOf"]],
    ["none that anything fits", { oneOf: [false] }, anything, ["removed /oneOf/0", "removed /oneOf"]],
    [
      "among alternatives",
      { anyOf: [string, { anyOf: [number, { type: "null" }] }] },
      { anyOf: [string, number, { type: "null" }] },
      [],
    ],
    ["that are the same", { anyOf: [string, string] }, string, ["merged /anyOf"]],
    [
      "of fixed values",
      {
        anyOf: [
          { type: "string", enum: ["a"] },
          { type: "string", enum: ["b"] },
        ],
      },
      { type: "string", enum: ["a", "b"] },
      ["merged /anyOf"],
    ],
    [
      "of fixed values with words of their own",
      { anyOf: [{ const: "a", description: "A." }, { const: "b" }] },
      {
        anyOf: [
          { type: "string", description: "A.", enum: ["a"] },
          { type: "string", enum: ["b"] },
        ],
      },
      ["rewritten /anyOf/0/const", "rewritten /anyOf/1/const"],
    ],
    [
      "with a type for all",
      { type: "string", anyOf: [{ enum: ["a"] }, { format: "date-time" }] },
      {
        anyOf: [
          { type: "string", enum: ["a"] },
          { type: "string", format: "date-time" },
        ],
      },
      ["rewritten /anyOf", "moved /type"],
    ],
    [
      "one of which contradicts what stands beside",
      { type: "string", anyOf: [number, { enum: ["a"] }, { enum: ["b"] }] },
      { type: "string", enum: ["a", "b"] },
      ["rewritten /anyOf", "moved /type", "removed /anyOf/0"],
    ],
    [
      "which all contradict what stands beside",
      { type: "string", anyOf: [number, { type: "null" }] },
      { anyOf: [string, number, { type: "null" }] },
      ["rewritten /anyOf", "moved /type"],
    ],
    [
      "beside properties",
      {
        ...point,
        oneOf: [
          { properties: { x: { const: 1 }, a: string }, required: ["a"] },
          { properties: { x: { const: 2 }, b: string } },
        ],
      },
      {
        type: "object",
        description: "One of: {a: string, x?: 1} or {x?: 2, b?: string}.",
        properties: { x: { type: "integer", enum: [1, 2] }, a: string, b: string },
        required: ["x"],
      },
      [
        "rewritten /oneOf/0/properties/x/const",
        "rewritten /oneOf/1/properties/x/const",
        "merged /oneOf",
        "merged /oneOf/0/properties/x",
        "merged /oneOf/1/properties/x",
        "moved /properties/x/type",
      ],
    ],
    [
      "about which properties must be given",
      { type: "object", properties: { a: string, b: string }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      { type: "object", description: "One of: {a} or {b}.", properties: { a: string, b: string } },
      ["merged /anyOf"],
    ],
    [
      "twice",
      { anyOf: [string, number], oneOf: [number, { type: "null" }] },
      number,
      [
        "rewritten /oneOf",
        "merged /oneOf/0",
        "merged /oneOf/1",
        "removed /oneOf/1",
        "removed /anyOf/0",
        "merged /anyOf",
      ],
    ],
  ])("%s", (_, raw, schema, repairs) => {
    expect(propertyOf(raw)).toEqual({ schema, repairs });
  });
});

describe("all of them", () => {
  test.each<readonly [what: string, raw: unknown, schema: unknown]>([
    [
      "objects",
      { allOf: [point, named] },
      { type: "object", properties: { x: number, name: string }, required: ["x"] },
    ],
    [
      "and what stands beside",
      { ...named, allOf: [point] },
      { type: "object", properties: { name: string, x: number }, required: ["x"] },
    ],
    [
      "the same property",
      { allOf: [{ ...point }, { properties: { x: { minimum: 1, description: "X." } } }] },
      { type: "object", properties: { x: { type: "number", description: "X.", minimum: 1 } }, required: ["x"] },
    ],
    [
      "bounds",
      { type: "number", minimum: 1, maximum: 9, allOf: [{ minimum: 2 }, { maximum: 5 }] },
      { type: "number", minimum: 2, maximum: 5 },
    ],
    ["values", { enum: ["a", "b"], allOf: [{ enum: ["b", "c"] }] }, { type: "string", enum: ["b"] }],
    [
      "items",
      { allOf: [{ type: "array", items: string, maxItems: 3 }, { items: { enum: ["a"] } }] },
      { type: "array", items: { type: "string", enum: ["a"] }, maxItems: 3 },
    ],
    [
      "descriptions",
      { description: "One.", allOf: [{ type: "string", description: "Two." }] },
      { type: "string", description: "One.\nTwo." },
    ],
    ["a number that is whole", { allOf: [number, { type: "integer" }] }, { type: "integer" }],
    [
      "alternatives and an object",
      { allOf: [{ anyOf: [named, { properties: { y: number } }] }, point] },
      { type: "object", properties: { x: number, name: string, y: number }, required: ["x"] },
    ],
    ["contradictions, which lose no property", { allOf: [point, string] }, { anyOf: [point, string] }],
    [
      "a property that contradicts itself",
      { properties: { a: point }, allOf: [{ properties: { a: { type: "array", items: named } } }] },
      { type: "object", properties: { a: { anyOf: [point, { type: "array", items: named }] } } },
    ],
  ])("%s", (_, raw, schema) => {
    expect(propertyOf(raw).schema).toEqual(schema);
  });

  test("is reported once", () => {
    expect(propertyOf({ allOf: [point, named] }).repairs).toEqual(["merged /allOf"]);
  });
});

/** Not as a literal: an object with a member `then` would be taken for a promise. */
function condition(...schemas: readonly unknown[]): Record<string, unknown> {
  const members = ["if", "then", "else"].map((name, index) => [name, schemas[index]] as const);
  return Object.fromEntries(members.filter(([, schema]) => schema !== undefined));
}

describe("conditions", () => {
  const card = { properties: { kind: { const: "card" } } };
  test.each<readonly [what: string, raw: unknown, schema: unknown, repairs: readonly string[]]>([
    [
      "not",
      { type: "string", not: { enum: ["root", "admin"] } },
      { type: "string", description: 'Must not be: "root" | "admin".' },
      ["moved /not"],
    ],
    ["not nothing", { type: "string", not: false }, string, ["removed /not"]],
    [
      "if, then, else: what they name is offered",
      {
        type: "object",
        properties: { kind: string },
        ...condition(card, { properties: { number: string }, required: ["number"] }, { required: ["iban"] }),
      },
      {
        type: "object",
        description: 'If {kind?: "card"}, then {number: string}, else {iban}.',
        properties: { kind: string, number: string, iban: anything },
      },
      ["rewritten /if/properties/kind/const", "removed /if/properties/kind", "moved /if", "moved /then", "moved /else"],
    ],
    ["if alone", { ...named, ...condition(card) }, named, ["removed /if"]],
    ["then alone", { ...named, ...condition(undefined, card) }, named, ["removed /then"]],
  ])("%s", (_, raw, schema, repairs) => {
    expect(propertyOf(raw)).toEqual({ schema, repairs });
  });
});

describe("arguments are one object", () => {
  const empty = { type: "object", properties: {} };
  test.each<readonly [what: string, raw: unknown, schema: unknown, repairs: readonly string[]]>([
    [
      "as it should be",
      { ...named, description: "D." },
      { type: "object", description: "D.", properties: { name: string } },
      [],
    ],
    ["empty", {}, empty, ["added /type"]],
    ["missing", undefined, empty, []],
    ["null", null, empty, []],
    ["true", true, empty, []],
    ["false", false, empty, ["rewritten /"]],
    ["a text", "object", empty, ["rewritten /"]],
    ["a list", [], empty, ["rewritten /"]],
    [
      "a string",
      { type: "string", minLength: 1 },
      { ...empty, description: "At least 1 character." },
      ["rewritten /type", "moved /minLength"],
    ],
    [
      "or null",
      { type: ["object", "null"], properties: { a: string } },
      { type: "object", properties: { a: string } },
      ["rewritten /type"],
    ],
    ["an array", { type: "array", items: named }, empty, ["rewritten /type", "removed /items"]],
    ["a constant", { const: { a: 1 } }, { ...empty, description: 'Must be {"a":1}.' }, ["moved /const", "added /type"]],
    ["without a type", { properties: { a: string } }, { type: "object", properties: { a: string } }, ["added /type"]],
    [
      "alternatives",
      { oneOf: [{ ...point, description: "P." }, named, { type: "null" }] },
      {
        type: "object",
        description: "One of: {x: number} or {name?: string} or null.",
        properties: { x: number, name: string },
      },
      ["removed /oneOf/2", "merged /oneOf", "added /type"],
    ],
    ["an object, or nothing", { anyOf: [point, { type: "null" }] }, point, ["removed /anyOf/1", "merged /anyOf"]],
    ["a reference", { $ref: "#/$defs/p", $defs: { p: point } }, point, ["merged /$ref", "rewritten /$defs"]],
    [
      "a reference to alternatives",
      { $ref: "#/$defs/p", $defs: { p: { anyOf: [point, named] } } },
      {
        type: "object",
        description: "One of: {x: number} or {name?: string}.",
        properties: { x: number, name: string },
      },
      ["merged /$defs/p/anyOf", "merged /$ref", "rewritten /$defs", "added /type"],
    ],
  ])("%s", (_, raw, schema, repairs) => {
    const compiled = compiledOf(raw);
    expect(compiled.schema).toEqual(schema);
    expect(compiled.repairs.map(({ action, path, keyword }) => `${action} ${path}/${keyword}`)).toEqual(repairs);
  });
});
