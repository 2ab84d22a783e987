import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compileSchema } from "../../../src/normalise/schema/compile.ts";
import { isPlainSchema } from "../../../src/normalise/schema/plain-schema.ts";

const dialects = ["gemini", "openai", "anthropic", "json-schema-2020-12"] as const;
const types = ["object", "array", "string", "number", "integer", "boolean", "null"];

/** Schemas without combinations, as awkward as they come, down to this many levels. */
function schemas(levels: number): fc.Arbitrary<unknown> {
  const inner = levels === 0 ? fc.constant({}) : schemas(levels - 1);
  const name = fc.string({ maxLength: 5 });
  return fc.record(
    {
      type: fc.oneof(fc.constantFrom(...types), fc.subarray(types), fc.constant(7)),
      properties: fc.dictionary(name, inner, { maxKeys: 5 }),
      items: fc.oneof(inner, fc.array(inner, { maxLength: 2 })),
      additionalProperties: fc.oneof(fc.boolean(), inner),
      enum: fc.array(fc.oneof(fc.string({ maxLength: 5 }), fc.integer(), fc.constant(null)), { maxLength: 20 }),
      required: fc.array(name, { maxLength: 5 }),
      description: fc.string({ maxLength: 50 }),
      minimum: fc.integer(),
    },
    { requiredKeys: [] },
  );
}

test("every plain schema compiles, for every model's API", () => {
  let plain = 0;
  fc.assert(
    fc.property(schemas(2), (raw) => {
      if (!isPlainSchema(raw)) return;
      plain += 1;
      for (const dialect of dialects) expect(compileSchema(raw, dialect).kind).toBe("compiled");
    }),
    { numRuns: scaled(3_000, 200), seed: seed() },
  );
  expect(plain).toBeGreaterThan(50);
});

test("the largest plain schemas compile", () => {
  const wide = Object.fromEntries(Array.from({ length: 390 }, (_, at) => [`p${at}`, true]));
  const typed = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`p${at}`, { type: types }]));
  const long = { type: types, description: "é".repeat(15_000), enum: ["ü".repeat(15_000)] };
  for (const properties of [wide, typed, { long }]) {
    const raw = { type: "object", properties };
    expect(isPlainSchema(raw)).toBe(true);
    for (const dialect of dialects) expect(compileSchema(raw, dialect).kind).toBe("compiled");
  }
});

test.each([
  ["a reference", { properties: { a: { $ref: "#" } } }],
  ["a combination", { anyOf: [{ type: "string" }] }],
  ["many values", { enum: Array.from({ length: 500 }, (_, at) => at) }],
  ["a long text", { description: "x".repeat(40_000) }],
  ["long names", { properties: { ["x".repeat(40_000)]: {} } }],
  ["many levels", JSON.parse(`${'{"items":'.repeat(20)}{}${"}".repeat(20)}`)],
  ["a value that is not JSON", { default: 1n }],
])("%s: only compiling tells", (_what, raw) => {
  expect(isPlainSchema(raw)).toBe(false);
});
