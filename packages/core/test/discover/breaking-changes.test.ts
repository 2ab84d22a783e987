import { expect, test } from "vitest";
import { breakingChanges } from "../../src/discover/breaking-changes.ts";
import type { CatalogTool } from "../../src/discover/catalog.ts";

const properties = { path: { type: "string" }, depth: { type: "integer", maximum: 10 }, kind: { enum: ["a", "b"] } };
const tool: CatalogTool = {
  name: "read",
  description: "Reads.",
  inputSchema: { type: "object", properties, required: ["path"] },
  outputSchema: { type: "object", properties: { size: { type: "number" } }, required: ["size"] },
};
const withInput = (changes: object): CatalogTool => ({ ...tool, inputSchema: { ...tool.inputSchema, ...changes } });
const withProperty = (name: string, schema: object): CatalogTool =>
  withInput({ properties: { ...properties, [name]: schema } });
const withOutput = (outputSchema: object | undefined): CatalogTool => {
  const { outputSchema: _, ...rest } = tool;
  return outputSchema === undefined ? rest : { ...rest, outputSchema: { ...outputSchema } };
};

test.each([
  ["other words", { ...tool, description: "Reads a file." }],
  ["annotations", { ...tool, annotations: { readOnlyHint: true } }],
  ["a new optional parameter", withProperty("more", { type: "string" })],
  ["a wider type", withProperty("depth", { type: ["number", "null"], maximum: 10 })],
  ["a higher maximum", withProperty("depth", { type: "integer", maximum: 20 })],
  ["one more value", withProperty("kind", { enum: ["a", "b", "c"] })],
  ["a parameter that is no longer required", withInput({ required: [] })],
  [
    "a new member of the result",
    withOutput({ ...tool.outputSchema, properties: { size: { type: "number" }, age: {} } }),
  ],
])("%s break no caller", (_what, after) => {
  expect(breakingChanges(tool, after)).toEqual([]);
});

test.each([
  ["a new required parameter", withInput({ required: ["path", "depth"] }), "the parameter depth is now required"],
  ["a removed parameter", withInput({ properties: { path: properties.path } }), "the parameter depth was removed"],
  ["a narrower type", withProperty("path", { type: "integer" }), "the type was string and is now integer"],
  ["a lower maximum", withProperty("depth", { type: "integer", maximum: 5 }), "maximum is now 5 (it was 10)"],
  ["a removed value", withProperty("kind", { enum: ["a"] }), '"b" is no longer allowed'],
  ["a new pattern", withProperty("path", { type: "string", pattern: "^/" }), 'pattern is now "^/"'],
  [
    "a closed object",
    withInput({ additionalProperties: false }),
    "no longer accepts parameters that the schema does not list",
  ],
  ["an unknown new keyword", withInput({ oneOf: [] }), "oneOf is now []"],
  ["no structured content", withOutput(undefined), "the result no longer has structured content"],
  ["a removed member of the result", withOutput({ type: "object", properties: {} }), "the result no longer has size"],
  [
    "a member of the result that may be missing",
    withOutput({ ...tool.outputSchema, required: [] }),
    "the result may lack size",
  ],
])("%s breaks callers", (_what, after, change) => {
  expect(breakingChanges(tool, after).join("\n")).toContain(change);
});

test.each([
  ...["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"].map((name) => [name, 6, 4] as const),
  ...["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"].map((name) => [name, 4, 6] as const),
])("the limit %s breaks callers only if it becomes stricter", (name, looser, stricter) => {
  const limited = (limit: number): CatalogTool => withProperty("path", { [name]: limit });
  expect(breakingChanges(limited(5), limited(looser))).toEqual([]);
  expect(breakingChanges(limited(5), limited(stricter))).toEqual([
    `the parameter path: ${name} is now ${stricter} (it was 5)`,
  ]);
});

test("an object is closed only once", () => {
  const closed = { additionalProperties: false };
  expect(breakingChanges(withInput(closed), withInput({ ...closed, title: "Read" }))).toEqual([]);
  expect(breakingChanges(withInput({ additionalProperties: true }), withInput(closed))).toHaveLength(1);
});
