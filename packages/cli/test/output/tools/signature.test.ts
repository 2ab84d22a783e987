import type { HostTool } from "@fairlead/core/host";
import { describe, expect, test } from "vitest";
import { exampleCall, full, signature, toSignature } from "../../../src/output/tools/signature.ts";

type Schema = HostTool["inputSchema"];

function tool(inputSchema: Schema, serverToolName = "t", outputSchema?: Schema): HostTool {
  const names = { name: "s__t", server: "s", serverToolName };
  const schemas = { inputSchema, parametersJsonSchema: {}, ...(outputSchema && { outputSchema }) };
  return { ...names, ...schemas, description: "", repairs: [], decision: "ask_user" };
}

/** `…, p3, p4: string`. */
function parameters(count: number, required = 0): Schema {
  const names = Array.from({ length: count }, (_, at) => `p${at}`);
  return {
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required: names.slice(count - required),
  };
}

describe("a signature says what is required, of what type, and the default", () => {
  test.each<[schema: Schema, words: string]>([
    [{}, "t()"],
    [{ properties: "nonsense", required: 7 }, "t()"],
    [{ properties: { b: { type: "number" }, a: { type: "string" } }, required: ["a"] }, "t(a: string, b?: number)"],
    [{ properties: { a: { type: "object", default: { x: [] } } } }, 't(a?: object = {"x":[]})'],
    [
      { properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { type: "string", default: "x" } } },
      't(a?: string = "x")',
    ],
    [{ properties: { "a, b": { type: "string" }, "user-id": true } }, 't("a, b"?: string, user-id?: unknown)'],
    [JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), "t(__proto__?: string)"],
  ])("%j", (schema, words) => {
    expect(signature(tool(schema))).toBe(words);
  });
});

describe("what may be left out is folded where there is much of it", () => {
  test.each<[schema: Schema, words: string]>([
    [parameters(6), "t(p0?: string, p1?: string, p2?: string, p3?: string, p4?: string, p5?: string)"],
    [parameters(7), "t(p0?: string, p1?: string, p2?: string, p3?: string, p4?: string, …+2)"],
    [parameters(7, 1), "t(p6: string, p0?: string, p1?: string, p2?: string, p3?: string, …+2)"],
    [parameters(9, 6), "t(p3: string, p4: string, p5: string, p6: string, p7: string, p8: string, …+3)"],
  ])("%j", (schema, words) => {
    expect(signature(tool(schema))).toBe(words);
  });

  test("and unfolded on demand", () => {
    expect(toSignature(tool(parameters(30)), full).parameters).toHaveLength(30);
  });

  test("a thousand required parameters do not fill the screen", () => {
    expect(toSignature(tool(parameters(1000, 1000))).parameters).toHaveLength(41);
    expect(toSignature(tool(parameters(1000, 1000)), full).parameters).toHaveLength(201);
  });
});

describe("parameters are found wherever the schema has them", () => {
  const a = { properties: { a: { type: "string" } }, required: ["a"] };
  const b = { properties: { b: { type: "number" }, a: { type: "boolean" } }, required: ["b"] };
  test.each<[schema: Schema, words: string]>([
    [{ allOf: [a, b] }, "t(a: string, b: number)"],
    [{ anyOf: [a, b] }, "t(a?: string, b?: number)"],
    [{ ...a, oneOf: [b] }, "t(a: string, b?: number)"],
    [{ $ref: "#/$defs/it", $defs: { it: a } }, "t(a: string)"],
    [{ $ref: "#" }, "t()"],
    [{ allOf: [{ $ref: "#" }, a] }, "t(a: string)"],
  ])("%j", (schema, words) => {
    expect(signature(tool(schema))).toBe(words);
  });

  test("branches of branches come to an end", () => {
    const branch = { $ref: "#/$defs/d" };
    const schema = { $defs: { d: { allOf: Array.from({ length: 50 }, () => branch) } }, ...branch };
    expect(signature(tool(schema))).toBe("t()");
  });
});

test("the form of a structured result is shown", () => {
  const output = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] };
  expect(signature(tool({}, "t", output))).toBe("t() → {sum: number}");
  expect(signature(tool({}, "t", {}))).toBe("t()");
});

test("what would not be seen, or would disturb a terminal, is made visible", () => {
  const schema = { properties: { "a\u202e\u001b[31m": { type: "x\ny" } } };
  expect(signature(tool(schema, "t\u200b\r"))).toBe(String.raw`t⟨U+200B⟩␍("a⟨U+202E⟩\u001b[31m"?: x␊y)`);
});

describe("an example call gives what is required, and a shell reads every value as one word", () => {
  const required = ["a"];
  test.each<[schema: Schema, words: string]>([
    [{ properties: { a: { type: "string" } } }, "s.t"],
    [{ required, properties: { a: { type: "string" } } }, "s.t a=text"],
    [{ required, properties: { a: { type: "integer" } } }, "s.t a=1"],
    [{ required, properties: { a: { type: "boolean" } } }, "s.t a=true"],
    [{ required, properties: { a: { type: "array" } } }, "s.t 'a=[]'"],
    [{ required, properties: { a: { type: "object" } } }, "s.t 'a={}'"],
    [{ required, properties: { a: { $ref: "#/$defs/n" } }, $defs: { n: { type: "number" } } }, "s.t a=1"],
    [{ required, properties: { a: { type: "string", examples: ["Ada Lovelace"] } } }, "s.t 'a=Ada Lovelace'"],
    [{ required, properties: { a: { enum: [3] } } }, "s.t a:=3"],
    [{ required, properties: { a: { const: "only" } } }, "s.t a=only"],
    [{ required, properties: { a: { examples: ["$(reboot)'; reboot"] } } }, "s.t 'a=$(reboot)'\\''; reboot'"],
  ])("%j", (schema, words) => {
    expect(exampleCall(tool(schema))).toBe(words);
  });

  test("a tool's name is quoted too", () => {
    expect(exampleCall(tool({}, "x; reboot"))).toBe("'s.x; reboot'");
  });
});
