import { scaled, seed } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compiledOf } from "../../../support/compiled.ts";

const string = { type: "string" };
const objectOf = (...names: readonly string[]): JsonObject => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, string])),
});
const propertyNamesIn = (raw: JsonObject): string[] => Object.keys(compiledOf(raw).schema["properties"] as JsonObject);

describe("property names", () => {
  test.each<readonly [what: string, names: readonly string[], forModel: readonly string[]]>([
    ["that the API takes stay", ["a", "_b", "camelCase", "x9"], ["a", "_b", "camelCase", "x9"]],
    [
      "like keywords stay",
      ["type", "properties", "required", "default", "items", "anyOf"],
      ["type", "properties", "required", "default", "items", "anyOf"],
    ],
    [
      "like members of every object stay",
      ["__proto__", "constructor", "toString", "hasOwnProperty"],
      ["__proto__", "constructor", "toString", "hasOwnProperty"],
    ],
    ["with other characters", ["a-b", "$ref", "é", "日本"], ["a_b", "_ref", "_", "__"]],
    ["that start with a digit", ["2d"], ["_2d"]],
    ["that are empty", [""], ["_"]],
    ["that would become the same", ["a-b", "a_b", "a.b", "a b"], ["a_b_2", "a_b", "a_b_3", "a_b_4"]],
    ["that are as long as may be", ["x".repeat(64)], ["x".repeat(64)]],
    ["that are too long", ["x".repeat(65), `${"x".repeat(64)}y`], ["x".repeat(64), `${"x".repeat(57)}_2`]],
  ])("%s", (_, names, forModel) => {
    expect(propertyNamesIn(objectOf(...names))).toEqual(forModel);
  });

  test("are the same wherever they stand, are required by their new name, and are reported", () => {
    const raw = {
      type: "object",
      properties: { "a-b": { type: "array", items: { ...objectOf("a-b"), required: ["a-b"] } } },
      required: ["a-b"],
    };
    const { schema, repairs } = compiledOf(raw);
    expect(schema).toEqual({
      type: "object",
      properties: { a_b: { type: "array", items: { ...objectOf("a_b"), required: ["a_b"] } } },
      required: ["a_b"],
    });
    expect(repairs).toEqual([
      { path: "/properties", keyword: "a-b", action: "renamed", note: 'The name for the model is "a_b".' },
    ]);
  });

  test("are the model's in words about them, and the server's in words about what goes there as it is", () => {
    const { schema } = compiledOf({
      ...objectOf("user-id", "org-id"),
      dependentRequired: { "user-id": ["org-id"] },
      anyOf: [{ required: ["user-id"] }, { required: ["org-id"] }],
      additionalProperties: objectOf("user-id"),
    });
    expect(schema["description"]).toBe(
      'Other properties: {user-id?: string}. With "user_id", "org_id" must be given too. One of: {user_id} or {org_id}.',
    );
  });

  test("for OpenAI-compatible endpoints may hold dashes and start with digits", () => {
    const { schema } = compiledOf(objectOf("a-b", "2d", "a.b"), "openai");
    expect(Object.keys(schema["properties"] as JsonObject)).toEqual(["a-b", "2d", "a_b"]);
  });
});

test("Anthropic's API gets one object at the root, and names with the characters that it accepts", () => {
  const { schema, restore } = compiledOf(
    {
      type: "object",
      properties: { "filter[id]": string, "a.b-c": { type: "string", format: "uuid", pattern: "^a" } },
      anyOf: [{ required: ["filter[id]"] }, { required: ["a.b-c"] }],
    },
    "anthropic",
  );
  expect(schema).toEqual({
    type: "object",
    description: "One of: {filter_id_} or {a.b-c}.",
    properties: {
      filter_id_: expect.objectContaining({ type: "string" }),
      "a.b-c": { type: "string", format: "uuid", description: expect.stringContaining("^a") },
    },
  });
  expect(restore({ filter_id_: "1", "a.b-c": "2" })).toEqual({ "filter[id]": "1", "a.b-c": "2" });
});

describe("arguments get the server's names back", () => {
  test("where the schema names them, and nowhere else", () => {
    const inner = { type: "object", properties: { "x-y": { type: "object" } } };
    const { restore } = compiledOf({
      type: "object",
      properties: {
        "a-b": { anyOf: [inner, string] },
        list: { type: "array", items: inner },
        tuple: { type: "array", prefixItems: [string, inner] },
        "__proto__-": string,
      },
    });
    const free = { x_y: 1, a_b: { x_y: 2 } };
    expect(
      restore({
        a_b: { x_y: free },
        list: [{ x_y: free }, 5],
        tuple: ["a", { x_y: free }],
        other: { x_y: free },
        __proto___: "p",
      }),
    ).toEqual({
      "a-b": { "x-y": free },
      list: [{ "x-y": free }, 5],
      tuple: ["a", { "x-y": free }],
      other: { x_y: free },
      "__proto__-": "p",
    });
  });

  test("below a cycle too, where the model's schema ends", () => {
    const { schema, restore } = compiledOf({
      type: "object",
      properties: { root: { $ref: "#/$defs/n" } },
      $defs: {
        n: {
          type: "object",
          properties: {
            "node-id": string,
            "child-nodes": { type: "array", items: { $ref: "#/$defs/n" } },
            data: { type: "object" },
          },
          required: ["node-id"],
        },
      },
    });
    const data = { node_id: "mine" };
    expect(
      restore({ root: { node_id: "1", child_nodes: [{ node_id: "2", data, child_nodes: [{ node_id: "3" }] }] } }),
    ).toEqual({
      root: { "node-id": "1", "child-nodes": [{ "node-id": "2", data, "child-nodes": [{ "node-id": "3" }] }] },
    });
    expect(JSON.stringify(schema)).toContain(
      "A value of this form again: {node_id: string, child_nodes?: n[], data?: object}.",
    );
  });

  test("below a cycle no deeper than JSON may be nested", () => {
    let deep: JsonObject = { a_b: "end" };
    for (let depth = 0; depth < 100_000; depth += 1) deep = { next: deep };
    const { restore } = compiledOf({ type: "object", properties: { "a-b": string, next: { $ref: "#" } } });
    expect(restore({ a_b: "start", next: deep })["a-b"]).toBe("start");
  });

  test("in alternatives, conditions and what is only asked for", () => {
    const inner = objectOf("x-y");
    const { restore } = compiledOf({
      type: "object",
      properties: { kind: string },
      required: ["o-n"],
      allOf: [{ properties: { "a-b": { oneOf: [string, inner] } } }],
      if: { required: ["kind"] },
      else: { properties: { "c-d": inner } },
      dependentSchemas: { kind: { properties: { "e-f": inner } } },
    });
    expect(restore({ a_b: { x_y: 1 }, c_d: { x_y: 2 }, e_f: { x_y: 3 }, o_n: { x_y: 4 } })).toEqual({
      "a-b": { "x-y": 1 },
      "c-d": { "x-y": 2 },
      "e-f": { "x-y": 3 },
      "o-n": { x_y: 4 },
    });
  });

  test("are the very same where nothing was renamed", () => {
    const args = { a: 1 };
    expect(compiledOf(objectOf("a")).restore(args)).toBe(args);
  });

  test("are not walked deeper than the schema goes", () => {
    let deep: unknown = "end";
    for (let depth = 0; depth < 100_000; depth += 1) deep = { deep };
    const { restore } = compiledOf({ type: "object", properties: { "a-b": { type: "object" } } });
    const restored = restore({ a_b: deep })["a-b"] as JsonObject;
    expect(restored["deep"] === (deep as JsonObject)["deep"]).toBe(true);
  });

  test("whatever the names", () => {
    fc.assert(
      fc.property(tree, (node) => {
        const raw = { type: "object", properties: { args: rawOf(node) } };
        const { schema, restore } = compiledOf(raw);
        const { args } = schema["properties"] as { args: JsonObject };
        expect(restore({ args: given(node, args) })).toEqual({ args: expected(node) });
      }),
      { numRuns: scaled(10_000, 300), seed: seed() },
    );
  });
});

type Tree = { kind: "leaf" } | { kind: "list" | "either"; of: Tree } | { kind: "object"; members: [string, Tree][] };

const name = fc.oneof(
  fc.string({ maxLength: 4 }),
  fc.constantFrom(
    "a-b",
    "a_b",
    "a.b",
    "a_b_2",
    "__proto__",
    "constructor",
    "1",
    "_1",
    "",
    "_",
    "x".repeat(64),
    "x".repeat(65),
    "x".repeat(66),
  ),
);

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    fc.constant<Tree>({ kind: "leaf" }),
    fc.record({ kind: fc.constantFrom("list" as const, "either" as const), of: tie("tree") }),
    fc.record({
      kind: fc.constant("object" as const),
      members: fc.uniqueArray(fc.tuple(name, tie("tree")), { maxLength: 5, selector: ([own]) => own }),
    }),
  ),
}));

/** Integers are listed first by every object, so they are put first here too. */
function membersOf(members: readonly [string, Tree][]): [string, Tree][] {
  return Object.entries(Object.fromEntries(members));
}

function rawOf(node: Tree): unknown {
  switch (node.kind) {
    case "leaf":
      return string;
    case "list":
      return { type: "array", items: rawOf(node.of) };
    case "either":
      return { anyOf: [{ type: "boolean" }, { type: "object", properties: { of: rawOf(node.of) } }] };
    case "object":
      return {
        type: "object",
        properties: Object.fromEntries(node.members.map(([own, member]) => [own, rawOf(member)])),
      };
  }
}

/** Arguments as the server knows them. */
function expected(node: Tree): unknown {
  switch (node.kind) {
    case "leaf":
      return "value";
    case "list":
      return [expected(node.of), expected(node.of)];
    case "either":
      return { of: expected(node.of) };
    case "object":
      return Object.fromEntries(membersOf(node.members).map(([own, member]) => [own, expected(member)]));
  }
}

/** The same arguments as the model gives them: its names stand in the same order as the server's. */
function given(node: Tree, schema: JsonObject): unknown {
  const properties = isObject(schema["properties"])
    ? Object.entries(schema["properties"] as Record<string, JsonObject>)
    : [];
  switch (node.kind) {
    case "leaf":
      return "value";
    case "list":
      return [given(node.of, schema["items"] as JsonObject), given(node.of, schema["items"] as JsonObject)];
    case "either": {
      const [, object = {}] = schema["anyOf"] as JsonObject[];
      const { of } = object["properties"] as { of: JsonObject };
      return { of: given(node.of, of) };
    }
    case "object":
      return Object.fromEntries(
        membersOf(node.members).map(([, member], index) => {
          const [forModel = "", inner = {}] = properties[index] ?? [];
          return [forModel, given(member, inner)];
        }),
      );
  }
}
