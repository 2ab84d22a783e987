import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { typescriptModule } from "../../src/generate/typescript-module.ts";

const moduleFor = (inputSchema: JsonObject, outputSchema?: JsonObject): string =>
  typescriptModule([{ name: "s", tools: [{ name: "t", inputSchema, ...(outputSchema && { outputSchema }) }] }]);

test("a tool whose schema names no type takes an object", () => {
  expect(moduleFor({})).toContain(
    "  t(args?: { [key: string]: unknown }, options?: CallOptions): Promise<CallResult>;",
  );
});

test("arguments are optional only if no parameter is required", () => {
  const properties = { a: { type: "string" } };
  expect(moduleFor({ properties })).toContain("  t(args?: TArguments, options?: CallOptions): Promise<CallResult>;");
  expect(moduleFor({ properties, required: ["a"] })).toContain("  t(args: TArguments, options?: CallOptions)");
});

test("a tool with an output schema returns its typed content, and only then the module has a function for that", () => {
  const output = { type: "object", properties: { n: { type: "number" } } };
  expect(moduleFor({}, output)).toContain("Promise<Typed<TResult>>;");
  expect(moduleFor({}, output)).toContain('t: (args, options) => callTyped(host, "s", "t", args, options),');
  expect(moduleFor({})).toContain('t: (args, options) => call(host, "s", "t", args, options),');
  expect(moduleFor({})).not.toContain("callTyped");
});

test("tools are sorted by name, and the types of several servers bear the name of their server", () => {
  const tool = (name: string) => ({ name, inputSchema: { properties: { a: {} } } });
  const text = typescriptModule([
    { name: "one", tools: [tool("b"), tool("a")] },
    { name: "two", tools: [tool("a")] },
  ]);
  expect(text.match(/^ {2}\w+\(args\?: \w+/gm)).toEqual([
    "  a(args?: OneAArguments",
    "  b(args?: OneBArguments",
    "  a(args?: TwoAArguments",
  ]);
});
