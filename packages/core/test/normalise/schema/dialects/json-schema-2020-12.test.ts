import type { JsonObject } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { compiledOf, propertyOf } from "../../../support/compiled.ts";

const string = { type: "string" };
const draft = "https://json-schema.org/draft/2020-12/schema";

describe("as draft 2020-12 says it", () => {
  test.each<readonly [what: string, raw: unknown, schema: unknown, repairs: readonly string[]]>([
    [
      "what it knows stays",
      { type: ["string", "null"], const: "a", default: "a", not: { pattern: "b" }, "x-order": 1 },
      { type: ["string", "null"], const: "a", default: "a", not: { pattern: "b" }, "x-order": 1 },
      [],
    ],
    [
      "properties named like keywords stay",
      { type: "object", properties: { definitions: string, items: string, $ref: string, id: string } },
      { type: "object", properties: { definitions: string, items: string, $ref: string, id: string } },
      [],
    ],
    [
      "excluded bounds",
      { minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: false },
      { exclusiveMinimum: 1, maximum: 5 },
      ["rewritten /minimum", "rewritten /exclusiveMinimum", "removed /exclusiveMaximum"],
    ],
    [
      "tuples",
      { items: [string], additionalItems: false },
      { prefixItems: [string], items: false },
      ["rewritten /items", "rewritten /additionalItems"],
    ],
    [
      "a tuple said twice",
      { items: [{ type: "number" }], prefixItems: [string] },
      { prefixItems: [string] },
      ["removed /items"],
    ],
    [
      "dependencies",
      { dependencies: { a: ["b"], c: { required: ["d"] } } },
      { dependentRequired: { a: ["b"] }, dependentSchemas: { c: { required: ["d"] } } },
      ["rewritten /dependencies"],
    ],
    [
      "null, as OpenAPI says it",
      { type: "string", nullable: true },
      { type: ["string", "null"] },
      ["rewritten /type", "rewritten /nullable"],
    ],
    [
      "identifiers",
      { id: "https://example.com/a", $schema: "x" },
      { $id: "https://example.com/a" },
      ["rewritten /id", "removed /$schema"],
    ],
    ["spelling of types", { type: "STRING" }, string, ["rewritten /type"]],
    [
      "what is of the wrong kind",
      { type: 5, properties: [], required: true, description: 7, enum: [], minLength: -1, not: "a" },
      {},
      [
        "removed /type",
        "removed /properties",
        "removed /required",
        "removed /description",
        "removed /enum",
        "removed /minLength",
        "removed /not",
      ],
    ],
    ["what is no schema", { properties: { a: 5 } }, { properties: { a: {} } }, ["rewritten /properties/a"]],
    ["references to elsewhere", { $ref: "https://example.com/s.json", title: "T" }, { title: "T" }, ["removed /$ref"]],
  ])("%s", (_, raw, schema, repairs) => {
    expect(propertyOf(raw, "json-schema-2020-12")).toEqual({ schema, repairs });
  });

  test.each<readonly [what: string, raw: JsonObject, schema: JsonObject]>([
    [
      "to definitions",
      { properties: { a: { $ref: "#/definitions/p" } }, definitions: { p: string } },
      { properties: { a: { $ref: "#/$defs/p" } }, $defs: { p: string } },
    ],
    [
      "to definitions of a name that is taken",
      { properties: { a: { $ref: "#/definitions/p" } }, $defs: { p: {} }, definitions: { p: string } },
      { properties: { a: { $ref: "#/$defs/p_" } }, $defs: { p_: string, p: {} } },
    ],
    [
      "into tuples",
      { properties: { a: { items: [string] }, b: { $ref: "#/properties/a/items/0" } } },
      { properties: { a: { prefixItems: [string] }, b: { $ref: "#/properties/a/prefixItems/0" } } },
    ],
    [
      "with slashes",
      { properties: { a: { $ref: "#/definitions/a~1b%20c" } }, definitions: { "a/b c": string } },
      { properties: { a: { $ref: "#/$defs/a~1b%20c" } }, $defs: { "a/b c": string } },
    ],
    ["to itself", { properties: { a: { $recursiveRef: "#" } } }, { properties: { a: { $ref: "#" } } }],
    [
      "that need no change",
      { properties: { a: { $ref: "#p" } }, $defs: { p: { $anchor: "p" } } },
      { properties: { a: { $ref: "#p" } }, $defs: { p: { $anchor: "p" } } },
    ],
  ])("references %s lead to the same place", (_, raw, schema) => {
    expect(compiledOf({ type: "object", ...raw }, "json-schema-2020-12").schema).toEqual({ type: "object", ...schema });
  });

  test("arguments are an object, and the draft is named if one was", () => {
    expect(
      compiledOf({ $schema: "http://json-schema.org/draft-07/schema#", anyOf: [{}] }, "json-schema-2020-12").schema,
    ).toEqual({ type: "object", $schema: draft, anyOf: [{}] });
    expect(compiledOf({ type: ["object", "null"] }, "json-schema-2020-12").schema).toEqual({ type: "object" });
    expect(compiledOf(undefined, "json-schema-2020-12").schema).toEqual({ type: "object" });
  });
});

describe("for OpenAI-compatible endpoints", () => {
  test("references are put in place, and tuples and formats are said in words", () => {
    const raw = {
      type: "object",
      properties: {
        pair: { type: "array", prefixItems: [string, { type: "number" }], items: false },
        when: { $ref: "#/$defs/time" },
      },
      $defs: { time: { type: "string", format: "date-time" } },
    };
    expect(compiledOf(raw, "openai").schema).toEqual({
      type: "object",
      properties: {
        pair: {
          type: "array",
          description: "In order: string, number.",
          items: { anyOf: [string, { type: "number" }] },
          maxItems: 2,
        },
        when: { type: "string", description: "Format: date-time." },
      },
    });
  });
});
