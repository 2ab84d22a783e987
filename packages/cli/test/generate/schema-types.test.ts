import type { JsonObject } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { createTypeDeclarations } from "../../src/generate/type-declarations.ts";

/** What is written for a schema, and all declarations. */
function written(schema: unknown, taken: readonly string[] = []) {
  const types = createTypeDeclarations(taken);
  return { ...types.write(schema, types.claim("Root")), declarations: types.declarations };
}

const propertyType = (schema: unknown, more: JsonObject = {}): string =>
  written({ type: "object", properties: { x: schema }, required: ["x"], ...more }).declarations.join("\n");

describe("a whole schema", () => {
  test.each<[schema: unknown, text: string, takesEmpty: boolean, declarations: readonly string[]]>([
    [{}, "unknown", false, []],
    [undefined, "unknown", false, []],
    [{ type: "object" }, "{ [key: string]: unknown }", true, []],
    [{ type: "object", additionalProperties: false }, "{ [key: string]: never }", true, []],
    [{ type: "object", required: ["a"] }, "Root", false, ["export interface Root { a: unknown }"]],
    [{ type: "string" }, "Root", false, ["export type Root = string;"]],
    [{ type: ["object", "null"] }, "Root", false, ["export type Root = { [key: string]: unknown } | null;"]],
    [{ properties: { a: {} } }, "Root", true, ["export interface Root { a?: unknown }"]],
    [
      { allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] },
      "Root",
      false,
      ["export type Root = { a?: unknown } & { b?: unknown };"],
    ],
    [
      { type: "object", title: "T", properties: { a: {} } },
      "Root",
      true,
      ["/** T */\nexport interface Root { a?: unknown }"],
    ],
    [
      { type: "string", description: "", title: "T", deprecated: true },
      "Root",
      false,
      ["/**\n * T\n * @deprecated\n */\nexport type Root = string;"],
    ],
  ])("%j", (schema, text, takesEmpty, declarations) => {
    expect(written(schema)).toEqual({ text, takesEmpty, declarations });
  });

  test("a description is cut at 600 characters", () => {
    const described = (length: number) => written({ type: "string", description: "x".repeat(length) }).declarations[0];
    expect(described(600)).toBe(`/** ${"x".repeat(600)} */\nexport type Root = string;`);
    expect(described(601)).toBe(`/** ${"x".repeat(599)}… */\nexport type Root = string;`);
  });
});

describe("the type of a value", () => {
  test.each<[schema: unknown, type: string]>([
    [{ type: "null" }, "null"],
    [{ type: "boolean" }, "boolean"],
    [{ type: ["string", "null"], nullable: true }, "string | null"],
    [{ type: "string", nullable: false }, "string"],
    [{ type: "integer", enum: [1, 1.5, 2, "1", null] }, "1 | 2"],
    [{ type: ["null", "array"], enum: [null, [1], {}, "a"] }, "null | [1]"],
    [{ type: "object", enum: [null, [1], { a: 1 }] }, '{"a":1}'],
    [{ type: "string", enum: [1] }, "never"],
    [{ const: null }, "null"],
    [{ const: "a", enum: ["b"] }, '"a"'],
    [{ type: "string", enum: [] }, "string"],
    [{ enum: ["a"], type: "string", allOf: [{ type: "string" }] }, '"a"'],
    [{ required: ["a"] }, "{ a: unknown }"],
    [{ additionalProperties: { type: "string" } }, "{ [key: string]: string }"],
    [{ patternProperties: { "^a": { type: "string" } }, additionalProperties: false }, "{ [key: string]: string }"],
    [
      { patternProperties: { "^a": { type: "string" } }, additionalProperties: { type: "number" } },
      "{ [key: string]: string | number }",
    ],
    [{ type: "object", additionalProperties: true }, "{ [key: string]: unknown }"],
    [
      { properties: { a: {} }, patternProperties: { "^b": {} }, required: ["a"] },
      "{ a: unknown; [key: string]: unknown }",
    ],
    [{ properties: { a: {} }, additionalProperties: false }, "{ a?: unknown }"],
    [{ properties: { toString: { type: "string" }, b: { type: "string" } } }, "{ toString?: unknown; b?: string }"],
    [{ properties: { toString: { type: "string" } }, required: ["toString"] }, "{ toString: string }"],
    [{ items: { type: "string" } }, "string[]"],
    [{ prefixItems: [{ type: "string" }] }, "[item1?: string, ...others: unknown[]]"],
    [{ type: "array", items: { anyOf: [{ type: "string" }, { type: "null" }] } }, "(string | null)[]"],
    [{ type: "array", items: false }, "never[]"],
    [
      { type: "array", prefixItems: [{ type: "string" }, {}], minItems: 1, items: { type: ["number", "null"] } },
      "[item1: string, item2?: unknown, ...others: (number | null)[]]",
    ],
    [
      { type: "array", items: [{ type: "string" }], additionalItems: { type: "number" }, maxItems: 2 },
      "[item1?: string, ...others: number[]]",
    ],
    [{ type: "array", items: [{ type: "string" }], additionalItems: false, minItems: 2 }, "[item1: string]"],
    [{ type: "array", prefixItems: [{ type: "string" }], maxItems: 1 }, "[item1?: string]"],
    [{ oneOf: [{ const: 1 }, { const: 2 }], anyOf: [{ const: 1 }, { const: 3 }] }, "(1 | 3) & (1 | 2)"],
    [{ allOf: [{ const: 1 }, { type: "number" }] }, "1"],
    [{ anyOf: [false, { type: "string" }] }, "string"],
    [{ anyOf: [] }, "unknown"],
  ])("%j is %s", (schema, type) => {
    const withoutComment = propertyType(schema).replace(/\{\n {2}\/\*\* .* \*\/\n {2}(.*);\n\}$/, "{ $1 }");
    expect(withoutComment).toBe(`export interface Root { x: ${type} }`);
  });

  test("a property has its comment", () => {
    expect(propertyType({ type: "integer", minimum: 1, default: 2, description: "How many." })).toBe(
      "export interface Root {\n  /** How many. [default: 2, minimum: 1] */\n  x: number;\n}",
    );
  });

  test("25 levels are written, what is below them is unknown", () => {
    const nested = (levels: number): string => {
      let schema: object = { type: "string" };
      for (let level = 0; level < levels; level += 1) schema = { type: "array", items: schema };
      return written(schema).declarations[0] ?? "";
    };
    expect(nested(24)).toBe(`export type Root = string${"[]".repeat(24)};`);
    expect(nested(25)).toBe(`export type Root = unknown${"[]".repeat(25)};`);
  });

  test("5000 schemas are written, the rest is unknown", () => {
    const properties = Object.fromEntries(Array.from({ length: 5001 }, (_, at) => [`p${at}`, { type: "null" }]));
    const [declaration = ""] = written({ type: "object", properties }).declarations;
    expect(declaration.split("?: null;")).toHaveLength(5000);
    expect(declaration.split("?: unknown;")).toHaveLength(3);
  });
});

describe("references", () => {
  test("to the whole schema are its name", () => {
    expect(written({ properties: { next: { $ref: "#" }, all: { type: "array", items: { $ref: "#" } } } })).toEqual({
      text: "Root",
      takesEmpty: true,
      declarations: ["export interface Root { next?: Root; all?: Root[] }"],
    });
  });

  test("are named after their definition, or after the path if they are no definition", () => {
    const schema = {
      properties: {
        a: { type: "object", properties: { deep: { type: "string" } } },
        b: { $ref: "#/properties/a/properties/deep" },
        c: { $ref: "#/definitions/old name" },
        d: { $ref: "#/$defs/nothing" },
      },
      definitions: { "old name": { type: "number" } },
    };
    expect(written(schema, ["OldName"]).declarations).toEqual([
      "export interface Root { a?: { deep?: string }; b?: RootDeep; c?: OldName2; d?: unknown }",
      "export type RootDeep = string;",
      "export type OldName2 = number;",
    ]);
  });

  test("are intersected with the types of the keywords beside them", () => {
    const $defs = { a: { properties: { a: {} } } };
    expect(written({ $ref: "#/$defs/a", properties: { b: {} }, $defs }).declarations).toEqual([
      "export type Root = { b?: unknown } & A;",
      "export interface A { a?: unknown }",
    ]);
  });

  test("that lead back without an object or a list in between are left out", () => {
    const $defs = {
      a: { anyOf: [{ type: "string" }, { $ref: "#/$defs/b" }] },
      b: { allOf: [{ $ref: "#/$defs/a" }] },
      tuple: { type: "array", prefixItems: [{ anyOf: [{ type: "string" }, { items: [{ $ref: "#/$defs/tuple" }] }] }] },
      list: { type: "array", items: { anyOf: [{ type: "string" }, { $ref: "#/$defs/list" }] } },
    };
    const properties = { a: { $ref: "#/$defs/a" }, tuple: { $ref: "#/$defs/tuple" }, list: { $ref: "#/$defs/list" } };
    expect(written({ properties, $defs }).declarations).toEqual([
      "export interface Root { a?: A; tuple?: Tuple; list?: List }",
      "export type A = unknown;",
      "export type Tuple = [item1?: string | [item1?: unknown, ...others: unknown[]], ...others: unknown[]];",
      "export type List = (string | List)[];",
    ]);
  });

  test("in definitions with the same text but other targets are different types", () => {
    const types = createTypeDeclarations([]);
    const write = (leaf: object): void => {
      const $defs = { node: { properties: { leaf: { $ref: "#/$defs/leaf" } } }, leaf };
      types.write({ properties: { x: { $ref: "#/$defs/node" } }, $defs }, types.claim("Root"));
    };
    for (const leaf of [{ type: "string" }, { type: "number" }, { type: "string" }]) write(leaf);
    expect(types.declarations).toEqual([
      "export interface Root { x?: Node }",
      "export interface Node { leaf?: Leaf }",
      "export type Leaf = string;",
      "export interface Root2 { x?: Node2 }",
      "export interface Node2 { leaf?: Leaf2 }",
      "export type Leaf2 = number;",
      "export interface Root3 { x?: Node }",
    ]);
  });
});
