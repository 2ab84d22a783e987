/** Arguments that leave out properties with a default, checked by the real validator. */

import type { JsonObject } from "@fairlead/wire";
import { afterAll, expect, test } from "vitest";
import { checkArguments } from "../../src/execute/check-values.ts";
import { createValidator } from "../../src/execute/validation/validator.ts";
import { SecureMCPToolExecutor } from "../../src/gemini/secure-executor.ts";

const { signal } = new AbortController();
const validator = createValidator();
afterAll(() => validator.close());

const check = async (inputSchema: JsonObject, args: JsonObject) =>
  checkArguments("shop", { name: "t", inputSchema }, args, validator, signal);

const scale = { enum: ["css", "device"], default: "css" };
const shot = { type: "object", properties: { page: { type: "string" }, scale }, required: ["page", "scale"] };
const choice = (name: string): JsonObject => ({
  type: "object",
  properties: { kind: { const: name, default: name }, value: { type: "number" } },
  required: ["kind", "value"],
});

test.each<[what: string, schema: JsonObject, args: JsonObject]>([
  ["at the top", shot, { page: "p" }],
  ["in a nested object", { properties: { in: shot } }, { in: { page: "p" } }],
  ["in the items of a list", { properties: { in: { items: shot } } }, { in: [{ page: "p" }, { page: "q" }] }],
  ["through a reference", { properties: { in: { $ref: "#/$defs/s" } }, $defs: { s: shot } }, { in: { page: "p" } }],
  ["in one of several forms", { oneOf: [shot, { required: ["other"] }] }, { page: "p" }],
  ["that tells the forms apart", { properties: { in: { oneOf: [choice("a"), choice("b")] } } }, { in: { value: 1 } }],
])("a missing property with a default is left to the server: %s", async (_, schema, args) => {
  expect(await check(schema, args)).toEqual({ args, warnings: [] });
});

test.each<[what: string, schema: JsonObject, args: JsonObject]>([
  ["exactly one form", { oneOf: [shot, { required: ["other"] }] }, { other: 1 }],
  [
    "one of two, where a default would make it both",
    { properties: { a: { default: 1 } }, oneOf: [{ required: ["a"] }, { required: ["b"] }] },
    { b: 1 },
  ],
  ["not both", { properties: { a: { default: 1 } }, not: { required: ["a", "b"] } }, { b: 1 }],
])("what the schema itself accepts stays accepted: %s", async (_, schema, args) => {
  expect(await check(schema, args)).toEqual({ args, warnings: [] });
});

test.each<[what: string, schema: JsonObject, args: JsonObject, message: string]>([
  ["a property without a default", shot, {}, '"page" is missing'],
  ["a wrong value of a property with a default", shot, { page: "p", scale: "x" }, '"scale" is not one of: css, device'],
  [
    "none of the forms",
    {
      ...shot,
      oneOf: [
        { properties: { page: { const: "first" }, size: { default: 1 } }, required: ["page", "size"] },
        { properties: { page: { const: "last" } } },
      ],
    },
    { page: "p" },
    "matches none of the allowed forms",
  ],
  [
    "two forms at once",
    { ...shot, oneOf: [{ required: ["page"] }, { required: ["page"] }] },
    { page: "p", scale: "css" },
    "matches more than one of the allowed forms",
  ],
])("is still refused, and only this is named: %s", async (_, schema, args, message) => {
  const refused = await check(schema, args).catch((error: Error) => error.message);
  expect(refused).toContain(`shop.t has invalid arguments: ${message.startsWith('"') ? message : ""}`);
  expect(refused).toContain(message);
  expect(refused).not.toContain('"scale" is missing');
});

test("a validation in a worker thread leaves a missing default to the server too", async () => {
  const threads = createValidator({ timeLimit: 60_000 });
  // A recursive schema is never validated on the main thread.
  const inputSchema = { ...shot, properties: { ...shot.properties, more: { $ref: "#" } } };
  const args = { page: "p", more: { page: "q" } };
  const tool = { name: "t", inputSchema };
  expect(await checkArguments("shop", tool, args, threads, signal)).toEqual({ args, warnings: [] });
  await threads.close();
});

test("null for a property with a default is left out if the schema does not accept null", async () => {
  const warnings = ['left out, because the tool does not accept null: "scale"'];
  expect(await check(shot, { page: "p", scale: null })).toEqual({ args: { page: "p" }, warnings });
});

test("a program's own executor leaves a missing default to its tool", async () => {
  await using executor = new SecureMCPToolExecutor();
  const ran: unknown[] = [];
  const tool = {
    serverName: "shop",
    serverToolName: "t",
    parameterSchemaJson: shot,
    execute: async (args: unknown) => {
      ran.push(args);
      return { llmContent: [], returnDisplay: "" };
    },
  };
  await executor.executeWithSafeguards(tool, { page: "p" });
  expect(ran).toEqual([{ page: "p" }]);
  await expect(executor.executeWithSafeguards(tool, {})).rejects.toMatchObject({ code: "arguments_invalid" });
});
