import type { JsonObject } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { compileSchema, type SchemaDialect } from "../../../src/normalise/schema/compile.ts";

const dialects: readonly SchemaDialect[] = ["gemini", "openai", "anthropic", "json-schema-2020-12"];
const models: readonly SchemaDialect[] = ["gemini", "openai", "anthropic"];
const string = { type: "string" };

/** `wrap` around `wrap` around … */
function nested(times: number, wrap: (inner: unknown) => unknown): JsonObject {
  let schema: unknown = string;
  for (let count = 0; count < times; count += 1) schema = wrap(schema);
  return schema as JsonObject;
}

const definitions = (count: number, definition: (next: string) => unknown): JsonObject => ({
  type: "object",
  properties: { a: { $ref: "#/$defs/d0" } },
  $defs: Object.fromEntries(
    [...Array(count).keys()].map((index) => [
      `d${index}`,
      index + 1 < count ? definition(`#/$defs/d${index + 1}`) : string,
    ]),
  ),
});
const objectOf = (count: number, schema: unknown): JsonObject => ({
  type: "object",
  properties: Object.fromEntries([...Array(count).keys()].map((index) => [`p${index}`, schema])),
});

function reasonFor(raw: unknown, dialect: SchemaDialect): string {
  const compiled = compileSchema(raw, dialect);
  return compiled.kind === "quarantined" ? compiled.reason : "compiled";
}

describe.each(dialects)("for %s, quarantined with its reason:", (dialect) => {
  test.each<readonly [what: string, raw: () => unknown, reason: RegExp]>([
    [
      "10 000 levels",
      () => nested(10_000, (inner) => ({ type: "object", properties: { a: inner } })),
      /nested deeper than/,
    ],
    ["100 000 lists in lists", () => ({ default: nested(100_000, (inner) => [inner]) }), /nested deeper than/],
    [
      "a schema that contains itself",
      () => {
        const raw: JsonObject = { type: "object" };
        raw["properties"] = { raw };
        return raw;
      },
      /nested deeper than/,
    ],
    [
      "one level too many",
      () => nested(33, (inner) => ({ type: "object", properties: { a: inner } })),
      /nested deeper than 32 levels/,
    ],
    ["too many subschemas", () => objectOf(2000, string), /more than 2000 subschemas/],
    ["too much text", () => ({ type: "object", description: "d".repeat(262_144) }), /larger than 256 kB/],
    ["too many values", () => ({ type: "object", default: Array(200_000).fill(1) }), /larger than 256 kB/],
    ["what is no JSON", () => ({ type: "object", default: 1n }), /contains a bigint/],
    ["one value too deep", () => ({ default: nested(255, (inner) => [inner]) }), /nested deeper than 256 levels/],
  ])("%s", (_, raw, reason) => {
    expect(reasonFor(raw(), dialect)).toMatch(reason);
  });

  test("but not what is as deep as it may be", () => {
    expect(reasonFor({ default: nested(254, (inner) => [inner]) }, dialect)).toBe("compiled");
  });
});

describe.each(models)("for %s, expansion ends in quarantine:", (dialect) => {
  test.each<readonly [what: string, raw: () => unknown]>([
    [
      "each definition refers twice to the next",
      () => definitions(40, (next) => ({ type: "object", properties: { a: { $ref: next }, b: { $ref: next } } })),
    ],
    [
      "the same in alternatives",
      () => definitions(40, (next) => ({ anyOf: [{ $ref: next }, { $ref: next, title: "t" }] })),
    ],
    ["the same in all of them", () => definitions(40, (next) => ({ allOf: [{ $ref: next }, { $ref: next }] }))],
    [
      "every definition refers to every other",
      () => ({
        ...objectOf(1, { $ref: "#/$defs/d0" }),
        $defs: Object.fromEntries(
          [...Array(30).keys()].map((index) => [
            `d${index}`,
            {
              type: "object",
              properties: Object.fromEntries(
                [...Array(30).keys()].map((other) => [`p${other}`, { $ref: `#/$defs/d${other}` }]),
              ),
            },
          ]),
        ),
      }),
    ],
    [
      "a chain of references with something beside each",
      () => definitions(1900, (next) => ({ $ref: next, minimum: 1 })),
    ],
    [
      "a wide definition, often",
      () => ({ ...objectOf(100, { $ref: "#/$defs/d" }), $defs: { d: objectOf(100, string) } }),
    ],
    [
      "a definition of much text, often",
      () => ({ ...objectOf(1500, { $ref: "#/$defs/d" }), $defs: { d: { enum: [...Array(20_000).keys()] } } }),
    ],
    [
      "items beside alternatives, over and over",
      () =>
        objectOf(
          1,
          nested(20, (inner) => ({ type: "array", items: inner, anyOf: [{ minItems: 1 }, { maxItems: 2 }] })),
        ),
    ],
    [
      "a long enum beside many alternatives",
      () => ({
        type: "object",
        properties: {
          a: { enum: [...Array(30_000).keys()], anyOf: [...Array(1900).keys()].map((minimum) => ({ minimum })) },
        },
      }),
    ],
  ])("%s", (_, raw) => {
    expect(reasonFor(raw(), dialect)).toMatch(
      /^the schema (has more than|follows more than 128|is nested|is larger|combines)/,
    );
  });
});

describe.each(models)("for %s, large is not too large:", (dialect) => {
  test.each<readonly [what: string, raw: () => unknown]>([
    ["32 levels", () => nested(32, (inner) => ({ type: "object", properties: { a: inner } }))],
    ["2000 subschemas", () => objectOf(1999, string)],
    ["a chain of 60 references", () => definitions(60, (next) => ({ $ref: next }))],
    [
      "a long enum",
      () => ({ type: "object", properties: { a: { type: "integer", enum: [...Array(30_000).keys()] } } }),
    ],
    [
      "10 000 definitions that nothing refers to",
      () => ({
        type: "object",
        $defs: Object.fromEntries([...Array(10_000).keys()].map((index) => [`d${index}`, {}])),
      }),
    ],
    ["many properties of any value", () => objectOf(1000, { description: "any" })],
    ["many lists of any value", () => objectOf(900, { type: "array" })],
    ["any value, as deep as may be", () => nested(31, (inner) => ({ properties: { a: inner, b: {} } }))],
    ["many that may be null", () => objectOf(1500, { type: ["string", "null"] })],
    [
      "many that may be null, as an alternative",
      () => objectOf(1500, { anyOf: [{ type: "string" }, { type: "null" }] }),
    ],
    [
      "null at every level",
      () =>
        objectOf(
          1,
          nested(30, (items) => ({ type: ["array", "null"], items })),
        ),
    ],
    ["many references to the whole", () => objectOf(1500, { $ref: "#" })],
    [
      "a pattern that takes for ever",
      () => ({ type: "object", properties: { a: { type: "string", pattern: "(a+)+$" } } }),
    ],
  ])("%s", (_, raw) => {
    expect(reasonFor(raw(), dialect)).toBe("compiled");
  });
});

test("the size of referenced schemas counts bytes, whatever the characters are", () => {
  const referring = (character: string): JsonObject => ({
    type: "object",
    properties: Object.fromEntries([...Array(20).keys()].map((at) => [`p${at}`, { $ref: "#/$defs/d" }])),
    $defs: { d: { type: "string", $comment: character.repeat(80_000) } },
  });
  expect(compileSchema(referring("x"), "gemini")).toMatchObject({ kind: "compiled" });
  expect(compileSchema(referring("あ"), "gemini")).toEqual({
    kind: "quarantined",
    reason: "the schema is larger than 4 MB once its references are resolved",
  });
});
