import type { HostTool } from "@fairlead/core/host";
import { describe, expect, test } from "vitest";
import { exampleCall, signature } from "../src/output/signature.ts";

function tool(parametersJsonSchema: HostTool["parametersJsonSchema"], serverToolName = "t"): HostTool {
  const names = { name: "s__t", server: "s", serverToolName };
  return { ...names, description: "", parametersJsonSchema, decision: "ask_user" };
}

describe("a signature says what is required, of what type, and the default", () => {
  test.each([
    [{}, "t()"],
    [{ properties: "nonsense", required: 7 }, "t()"],
    [{ properties: { b: { type: "number" }, a: { type: "string" } }, required: ["a"] }, "t(a: string, b?: number)"],
    [{ properties: { a: { type: ["string", "null"] } } }, "t(a?: string | null)"],
    [
      { properties: { a: { type: "array", items: { type: "string" } }, b: { type: "array" } } },
      "t(a?: string[], b?: array)",
    ],
    [{ properties: { a: { enum: [1, "x"] }, b: { const: true } } }, 't(a?: 1 | "x", b?: true)'],
    [{ properties: { a: { enum: [1, 2, 3, 4, 5, 6, 7] } } }, "t(a?: 1 | 2 | 3 | 4 | 5 | 6 | …)"],
    [{ properties: { a: { anyOf: [{ type: "string" }] }, b: true } }, "t(a?: any, b?: any)"],
    [{ properties: { a: { type: "object", default: { x: [] } } } }, 't(a?: object = {"x":[]})'],
    [{ properties: { "a\u202e\u001b[31m": { type: "x\ny" } } }, "t(a␛[31m?: x␊y)"],
    [JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), "t(__proto__?: string)"],
  ])("%j", (schema: HostTool["parametersJsonSchema"], words) => {
    expect(signature(tool(schema))).toBe(words);
  });
});

describe("an example call gives what is required, and a shell reads every value as one word", () => {
  const required = ["a"];
  test.each([
    [{ properties: { a: { type: "string" } } }, "s.t"],
    [{ required, properties: { a: { type: "string" } } }, "s.t a=text"],
    [{ required, properties: { a: { type: "integer" } } }, "s.t a=1"],
    [{ required, properties: { a: { type: "boolean" } } }, "s.t a=true"],
    [{ required, properties: { a: { type: "array" } } }, "s.t 'a=[]'"],
    [{ required, properties: { a: { type: "object" } } }, "s.t 'a={}'"],
    [{ required, properties: { a: { type: "string", examples: ["Ada Lovelace"] } } }, "s.t 'a=Ada Lovelace'"],
    [{ required, properties: { a: { enum: [3] } } }, "s.t a:=3"],
    [{ required, properties: { a: { examples: ["$(reboot)'; reboot"] } } }, "s.t 'a=$(reboot)'\\''; reboot'"],
  ])("%j", (schema, words) => {
    expect(exampleCall(tool(schema))).toBe(words);
  });

  test("a tool's name is quoted too", () => {
    expect(exampleCall(tool({}, "x; reboot"))).toBe("'s.x; reboot'");
  });
});
