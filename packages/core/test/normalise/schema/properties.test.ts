import { scaled, seed } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CompiledSchema, compileSchema, type SchemaDialect } from "../../../src/normalise/schema/compile.ts";
import { isText } from "../../../src/normalise/schema/json-values.ts";
import { toModelText } from "../../../src/text/model-text.ts";
import { anySchema } from "../../support/any-schema.ts";
import { everySchema, marked, unaccounted } from "../../support/schema-account.ts";

const dialects: readonly SchemaDialect[] = ["gemini", "openai", "anthropic", "json-schema-2020-12"];
const models: readonly SchemaDialect[] = ["gemini", "openai", "anthropic"];
/** Few: there are seven properties, and every schema has to be made for each. */
const check = { numRuns: scaled(10_000, 150), seed: seed() };

/** Those that are too large are another test's matter. */
function compiledOf(raw: unknown, dialect: SchemaDialect): Extract<CompiledSchema, { kind: "compiled" }> {
  const compiled = compileSchema(raw, dialect);
  if (compiled.kind === "compiled") return compiled;
  return fc.pre(false) as never;
}

describe("whatever a server sends", () => {
  test.each(models)("for %s every keyword is kept or accounted for", (dialect) => {
    fc.assert(
      fc.property(anySchema, (any) => {
        const raw = marked(any);
        if (!isObject(raw)) return;
        expect(unaccounted(raw, compiledOf(raw, dialect))).toEqual([]);
      }),
      check,
    );
  });

  test.each(models)("for %s alternatives inside of too many alternatives are accounted for", (dialect) => {
    const alternatives = [{ anyOf: [true, { anyOf: [{}, true] }] }, { oneOf: [true, true, true] }];
    const a = { items: [{ properties: { a: true } }], allOf: alternatives, anyOf: [true, true, true] };
    const raw = marked({ type: "object", properties: { a }, $defs: {} }) as JsonObject;
    expect(unaccounted(raw, compiledOf(raw, dialect))).toEqual([]);
  });

  test.each(dialects)("for %s the raw schema stays as it was, and a compiled one compiles to itself", (dialect) => {
    fc.assert(
      fc.property(anySchema, (raw) => {
        const before = JSON.stringify(raw);
        const { schema } = compiledOf(raw, dialect);
        expect(JSON.stringify(raw)).toBe(before);
        const again = compileSchema(schema, dialect);
        expect({ ...again, restore: undefined }).toEqual({ kind: "compiled", schema, repairs: [], restore: undefined });
        expect(JSON.stringify(again.kind === "compiled" && again.schema)).toBe(JSON.stringify(schema));
      }),
      check,
    );
  });

  test.each(models)("for %s the result says only what the API takes", (dialect) => {
    fc.assert(
      fc.property(anySchema, (raw) => {
        const { schema } = compiledOf(raw, dialect);
        expect(schema["type"]).toBe("object");
        expect(isObject(schema["properties"])).toBe(true);
        expect(everySchema(schema).flatMap((node) => faultsOf(node, dialect))).toEqual([]);
      }),
      check,
    );
  });
});

const common = [
  "type",
  "title",
  "description",
  "enum",
  "items",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "anyOf",
  "properties",
  "required",
];
const keywords: Partial<Record<SchemaDialect, readonly string[]>> = {
  gemini: [...common, "format", "prefixItems"],
  openai: common,
  anthropic: [...common, "format", "prefixItems"],
};
const nameRule: Partial<Record<SchemaDialect, RegExp>> = {
  gemini: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/,
  openai: /^[a-zA-Z0-9_-]{1,64}$/,
  anthropic: /^[a-zA-Z0-9_.-]{1,64}$/,
};

function faultsOf(node: JsonObject, dialect: SchemaDialect): string[] {
  const { type, anyOf, items, enum: values, required, properties, description, title } = node;
  const texts = [title, description, ...(Array.isArray(values) ? (values as unknown[]) : [])].filter(isText);
  const declared = Object.keys(Object(properties));
  const isUnion = Array.isArray(anyOf);
  const rules: Record<string, boolean> = {
    "only supported keywords": Object.keys(node).every((name) => keywords[dialect]?.includes(name)),
    "one type, or alternatives": isUnion ? type === undefined : typeof type === "string",
    "nothing but words beside alternatives":
      !isUnion || Object.keys(node).every((name) => ["anyOf", "title", "description"].includes(name)),
    "two alternatives or more": !isUnion || anyOf.length > 1,
    "arrays have items": type !== "array" || isObject(items),
    "enums of filled strings or of numbers":
      values === undefined ||
      (Array.isArray(values) &&
        values.length > 0 &&
        values.every((value) => (type === "string" ? isText(value) && value !== "" : typeof value === "number"))),
    "required properties exist":
      required === undefined || (required as string[]).every((name) => declared.includes(name)),
    "names that the API takes": declared.every((name) => nameRule[dialect]?.test(name)),
    "only what a person would see": texts.every((text) => toModelText(text) === text),
    "bounds that something fits": !(Number(node["minimum"]) > Number(node["maximum"])),
    "numbers of items that something fits": !(Number(node["minItems"]) > Number(node["maxItems"])),
    "a short description": description === undefined || (isText(description) && description.length <= 4096),
  };
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [`${rule}: ${JSON.stringify(node)}`]));
}
