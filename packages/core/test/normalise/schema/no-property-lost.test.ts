import { scaled, seed } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compiledOf } from "../../support/compiled.ts";
import { everySchema } from "../../support/schema-account.ts";

/** Schemas without contradictions, as people write them: what is an object stays one, however it is put together. */
const { object } = fc.letrec<{ object: JsonObject; plain: JsonObject; member: [string, JsonObject] }>((tie) => {
  const [object, plain] = [tie("object"), tie("plain")];
  const objects = fc.array(object, { minLength: 1, maxLength: 2 });
  /** The name says what kind of value it is, so that no two schemas disagree about it. */
  const named = (kind: string, schema: fc.Arbitrary<JsonObject>): fc.Arbitrary<[string, JsonObject]> =>
    fc.tuple(
      fc.nat(50).map((number) => `${kind}${number}`),
      schema,
    );
  const nested = { maxDepth: 3 };
  return {
    member: fc.oneof(
      nested,
      named("text", fc.constant({ type: "string" })),
      named("object", object),
      named(
        "list",
        object.map((items) => ({ type: "array", items })),
      ),
      named(
        "either",
        object.map((each) => ({ anyOf: [each, { type: "string" }] })),
      ),
    ),
    plain: fc
      .tuple(fc.boolean(), fc.array(tie("member"), { minLength: 1, maxLength: 2 }))
      .map(([isTyped, members]) => ({
        ...(isTyped && { type: "object" }),
        properties: Object.fromEntries(members),
        required: members.slice(0, 1).map(([own]) => own),
      })),
    object: fc.oneof(
      nested,
      plain,
      plain,
      fc.constant({ $ref: "#/$defs/one" }),
      objects.map((allOf) => ({ allOf })),
      objects.map((anyOf) => ({ anyOf })),
      fc.tuple(plain, objects).map(([base, oneOf]) => ({ ...base, oneOf })),
      fc.tuple(plain, objects).map(([base, allOf]) => ({ ...base, allOf })),
      fc.tuple(plain, object).map(([base, rule]) => ({ ...base, dependentSchemas: { a: rule } })),
      fc.tuple(plain, object, object, object).map(conditional),
      fc.tuple(objects, objects).map(([anyOf, oneOf]) => ({ anyOf, oneOf })),
    ),
  };
});

function conditional([base, ...schemas]: JsonObject[]): JsonObject {
  const names = ["if", "then", "else"];
  const members = schemas.map((schema, index) => [names[index] ?? "", schema] as const);
  return Object.fromEntries([...Object.entries(base ?? {}), ...members]);
}

/** The names of all properties; of the definitions, of those that are referred to. */
function propertyNamesIn(raw: JsonObject): Set<string> {
  const { $defs, ...whole } = raw;
  const isReferred = JSON.stringify(whole).includes("$ref");
  const schemas = [...everySchema(whole), ...(isReferred ? everySchema(($defs as { one: JsonObject }).one) : [])];
  return new Set(schemas.flatMap(({ properties }) => Object.keys(Object(properties))));
}

test.each(["gemini", "openai", "anthropic"] as const)(
  "for %s no property is lost, however schemas are combined",
  (dialect) => {
    fc.assert(
      fc.property(object, object, (whole, one) => {
        const raw = { ...whole, $defs: { one } };
        const names = propertyNamesIn(raw);
        const { schema } = compiledOf(raw, dialect);
        const found = new Set(everySchema(schema).flatMap(({ properties }) => Object.keys(Object(properties))));
        expect([...names].filter((name) => !found.has(name))).toEqual([]);
      }),
      { numRuns: scaled(10_000, 80), seed: seed() },
    );
  },
);

describe("in one by one:", () => {
  const string = { type: "string" };
  const objectOf = (...names: readonly string[]): JsonObject => ({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, string])),
  });
  const letters = "abcdefghijkl".split("");
  const many = objectOf(...letters);
  const lists = (stem: string, items = (name: string): JsonObject => objectOf(name)): JsonObject => ({
    anyOf: [1, 2, 3, 4, 5].map((number) => ({ type: "array", items: items(`${stem}${number}`) })),
  });
  const nested = (name: string): JsonObject => ({ type: "array", items: { anyOf: [objectOf(name), string] } });
  const config = { ...objectOf("kind"), properties: { kind: string, config: { type: "object" } } };
  const refined = { properties: { config: many } };

  test.each<readonly [what: string, raw: JsonObject]>([
    ["lists beside lists, too many to combine", { properties: { p: { allOf: [lists("x"), lists("y")] } } }],
    [
      "lists of lists beside lists, too many to combine",
      { properties: { p: { allOf: [lists("x", nested), lists("y")] } } },
    ],
    ["a consequence", conditional([config, { required: ["kind"] }, refined, {}])],
    ["a condition", conditional([config, many, { required: ["kind"] }, {}])],
    ["a dependency", { ...config, dependentSchemas: { kind: refined } }],
    [
      "alternatives that refine what is there",
      {
        properties: { ops: { type: "array", items: { type: "object" } }, k: { ...objectOf(), properties: { z: {} } } },
        oneOf: [{ properties: { ops: { items: many } } }, { properties: { k: { properties: { z: objectOf("m") } } } }],
      },
    ],
  ])("%s", (_, raw) => {
    const { schema } = compiledOf({ type: "object", ...raw });
    const found = everySchema(schema).flatMap(({ properties }) => Object.keys(Object(properties)));
    const asked = everySchema(raw).flatMap(({ properties }) => Object.keys(Object(properties)));
    expect(asked.filter((name) => !found.includes(name))).toEqual([]);
  });

  test("what only a condition speaks of may be otherwise", () => {
    const condition = { properties: { kind: { const: "card" } } };
    const { schema } = compiledOf(conditional([objectOf("a"), condition, { required: ["a"] }, {}]));
    expect(schema["properties"]).toEqual({ a: string, kind: string });
  });

  test("properties with any name are said in words, all of them", () => {
    const { schema } = compiledOf({ type: "object", additionalProperties: many, patternProperties: { "^x": many } });
    const names = letters.map((name) => `${name}?: string`).join(", ");
    expect(schema["description"]).toBe(`Other properties: {${names}}. Properties named like ^x: {${names}}.`);
  });
});
