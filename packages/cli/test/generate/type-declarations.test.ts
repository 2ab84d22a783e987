import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createTypeDeclarations } from "../../src/generate/type-declarations.ts";
import { linkPackages, typeCheck } from "../support/type-check.ts";

/** The type of a property with this schema, and the other declarations. */
function typeOf(
  schema: unknown,
  definitions: object = {},
): { readonly type: string; readonly others: readonly string[] } {
  const types = createTypeDeclarations([]);
  types.write({ type: "object", properties: { x: schema }, $defs: definitions }, types.claim("Root"));
  const [root = "", ...others] = types.declarations;
  return { type: /x\?: ([\s\S]*?)(?:;| )\s?\}$/.exec(root)?.[1] ?? root, others };
}

describe("the type of a schema", () => {
  test.each<readonly [unknown, string]>([
    [{ type: "string" }, "string"],
    [{ type: "integer" }, "number"],
    [{ type: ["string", "null"] }, "string | null"],
    [{ type: "string", nullable: true }, "string | null"],
    [{ type: "string", enum: ["a", 'b"', 1] }, '"a" | "b\\""'],
    [{ const: { a: [1, null] } }, '{"a":[1,null]}'],
    [{}, "unknown"],
    [true, "unknown"],
    [false, "never"],
    [{ type: "text" }, "unknown"],
    [{ type: "array" }, "unknown[]"],
    [{ type: "array", items: { type: ["string", "number"] } }, "(string | number)[]"],
    [{ type: "array", prefixItems: [{ type: "string" }], minItems: 1 }, "[item1: string, ...others: unknown[]]"],
    [{ type: "array", prefixItems: [{ type: "string" }], items: false }, "[item1?: string]"],
    [
      { type: "array", items: [{ type: "string" }, { type: "number" }], maxItems: 2 },
      "[item1?: string, item2?: number]",
    ],
    [{ type: "object" }, "{ [key: string]: unknown }"],
    [{ type: "object", additionalProperties: false }, "{ [key: string]: never }"],
    [{ type: "object", additionalProperties: { type: "number" } }, "{ [key: string]: number }"],
    [{ type: "object", patternProperties: { "^a": { type: "number" } } }, "{ [key: string]: unknown }"],
    [{ properties: { a: { type: "string" } }, required: ["a", "b"] }, "{ a: string; b: unknown }"],
    [
      { properties: { "a b": {}, __proto__: {} }, additionalProperties: true },
      '{ "a b"?: unknown; [key: string]: unknown }',
    ],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
    [{ anyOf: [{ type: "string" }, {}] }, "unknown"],
    [{ type: "string", anyOf: [{ format: "uri" }, { format: "uuid" }] }, "string"],
    [{ type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }] }, "{ a: unknown } | { b: unknown }"],
    [{ allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }, "{ a?: unknown } & { b?: unknown }"],
    [{ $ref: "https://example.com/schema.json" }, "unknown"],
  ])("%j is %s", (schema, type) => {
    expect(typeOf(schema).type).toBe(type);
  });

  test("rules that a type cannot express stand in its comment", () => {
    const rules = {
      format: "email",
      default: "a",
      pattern: "^a",
      minLength: 1,
      maxLength: 2,
      minimum: 3,
      maximum: 4,
      exclusiveMinimum: 5,
      exclusiveMaximum: 6,
      multipleOf: 7,
      minItems: 8,
      maxItems: 9,
      uniqueItems: true,
    };
    const types = createTypeDeclarations([]);
    types.write({ properties: { x: { ...rules, title: "Name", deprecated: true } } }, types.claim("Root"));
    const text = types.declarations.join("\n");
    for (const [rule, value] of Object.entries(rules)) expect(text).toContain(`${rule}: ${JSON.stringify(value)}`);
    expect(text).toContain("Name");
    expect(text).toContain("@deprecated");
  });

  test("a reference is a name, also in a cycle", () => {
    const tree = { type: "object", properties: { left: { $ref: "#/$defs/tree node" } } };
    const { type, others } = typeOf({ type: "array", items: { $ref: "#/$defs/tree node" } }, { "tree node": tree });
    expect(type).toBe("TreeNode[]");
    expect(others).toEqual(["export interface TreeNode { left?: TreeNode }"]);
  });

  test("a list of lists may contain itself", async () => {
    const inner = { type: "array", prefixItems: [{ type: "array", prefixItems: [{ $ref: "#/$defs/nested" }] }] };
    const nested = { anyOf: [{ type: "string" }, inner, { type: "array", items: { $ref: "#/$defs/nested" } }] };
    await using folder = await temporaryFolder();
    await linkPackages(folder);
    await folder.write("nested.ts", typeOf({ $ref: "#/$defs/nested" }, { nested }).others.join("\n"));
    expect(await typeCheck(folder, "nested.ts")).toBe("");
  });

  test("a definition that is nothing but itself is any value", () => {
    const { others } = typeOf(
      { $ref: "#/$defs/a" },
      { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { $ref: "#/$defs/a" } },
    );
    expect(others).toEqual(["export type A = unknown;"]);
  });

  test("definitions that several schemas share are declared once, others get another name", () => {
    const types = createTypeDeclarations(["Item"]);
    const write = (item: object): string =>
      types.write({ properties: { x: { $ref: "#/$defs/item" } }, $defs: { item } }, types.claim("Root")).text;
    expect([write({ type: "string" }), write({ type: "string" }), write({ type: "number" })]).toEqual([
      "Root",
      "Root2",
      "Root3",
    ]);
    expect(types.declarations).toEqual([
      "export interface Root { x?: Item2 }",
      "export type Item2 = string;",
      "export interface Root2 { x?: Item2 }",
      "export interface Root3 { x?: Item3 }",
      "export type Item3 = number;",
    ]);
  });

  test("descriptions and rules without a type are in the comment", () => {
    const schema = { type: "string", description: "When. */\n@ts-ignore", format: "date", deprecated: true };
    const types = createTypeDeclarations([]);
    types.write({ properties: { x: schema } }, types.claim("Root"));
    expect(types.declarations).toEqual([
      [
        "export interface Root {",
        "  /**",
        "   * When. *\\/",
        "   * \\@ts-ignore",
        '   * [format: "date"]',
        "   * @deprecated",
        "   */",
        "  x?: string;",
        "}",
      ].join("\n"),
    ]);
  });
});

describe("a schema that is too much", () => {
  const write = (schema: unknown) => {
    const types = createTypeDeclarations([]);
    const { text } = types.write(schema, types.claim("Root"));
    return { text, length: types.declarations.join("").length };
  };

  test("too large: any object", () => {
    expect(write({ type: "object", description: "x".repeat(300_000) }).text).toBe("{ [key: string]: unknown }");
  });

  test("too deep: unknown from there on", () => {
    let deep: object = { type: "string" };
    for (let level = 0; level < 60; level += 1) deep = { type: "object", properties: { a: deep } };
    expect(write(deep)).toMatchObject({ text: "Root", length: expect.toSatisfy((size: number) => size < 10_000) });
  });

  test("too many alternatives at once: only the first claim", () => {
    const many = { enum: Array.from({ length: 200 }, (_, at) => `v${at}`) };
    const { type } = typeOf({ allOf: [many, many, { anyOf: [many, { type: "number" }] }] });
    expect(type).not.toContain("&");
    const chain = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [
        `d${at}`,
        { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
      ]),
    );
    expect(typeOf({ allOf: [{ $ref: "#/$defs/d0" }, { $ref: "#/$defs/d1" }] }, chain).type).toBe("D0");
  });
});
