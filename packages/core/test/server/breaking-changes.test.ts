import { expect, test } from "vitest";
import { breakingChanges } from "../../src/server/breaking-changes.ts";
import type { CatalogTool } from "../../src/server/catalog.ts";

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
  ["an equal maximum", withProperty("depth", { maximum: 10, type: "integer" })],
  ["a type that is no longer named", withProperty("path", {})],
  ["values that are no longer listed", withProperty("kind", {})],
  ["a maximum that is gone", withProperty("depth", { type: "integer" })],
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

const closes = "no longer accepts parameters that the schema does not list";

test.each<[string, CatalogTool, readonly string[]]>([
  ["a new required parameter", withInput({ required: ["path", "depth"] }), ["the parameter depth is now required"]],
  [
    "removed parameters",
    withInput({ properties: { path: properties.path } }),
    ["the parameter depth was removed", "the parameter kind was removed"],
  ],
  [
    "a narrower type",
    withProperty("path", { type: "integer" }),
    ["the parameter path: the type was string and is now integer"],
  ],
  [
    "an integer instead of a number or nothing",
    withProperty("depth", { type: ["null", "string"], maximum: 10 }),
    ["the parameter depth: the type was integer and is now null or string"],
  ],
  [
    "a type where there was none",
    withProperty("kind", { enum: ["a", "b"], type: "string" }),
    ["the parameter kind: the type was any and is now string"],
  ],
  [
    "a lower maximum",
    withProperty("depth", { type: "integer", maximum: 5 }),
    ["the parameter depth: maximum is now 5 (it was 10)"],
  ],
  [
    "a maximum that is no number",
    withProperty("depth", { type: "integer", maximum: "20" }),
    ['the parameter depth: maximum is now "20" (it was 10)'],
  ],
  ["removed values", withProperty("kind", { enum: ["c"] }), ['the parameter kind: "a", "b" is no longer allowed']],
  [
    "values where all were allowed",
    withProperty("path", { type: "string", enum: ["x"] }),
    ['the parameter path: only these values are allowed now: ["x"]'],
  ],
  [
    "a new pattern",
    withProperty("path", { type: "string", pattern: "^/" }),
    ['the parameter path: pattern is now "^/"'],
  ],
  ["a closed object", withInput({ additionalProperties: false }), [`the tool ${closes}`]],
  [
    "a schema for all other parameters",
    withInput({ additionalProperties: { type: "string" } }),
    ["the parameter *: the schema has changed"],
  ],
  ["an unknown new keyword", withInput({ oneOf: [] }), ["the arguments: oneOf is now []"]],
  ["no parameter at all", { ...tool, inputSchema: JSON.parse("false") }, ["the arguments: the schema has changed"]],
  ["no structured content", withOutput(undefined), ["the result no longer has structured content"]],
  ["a removed member of the result", withOutput({ type: "object", properties: {} }), ["the result no longer has size"]],
  [
    "a member of the result that may be missing",
    withOutput({ ...tool.outputSchema, required: [] }),
    ["the result may lack size"],
  ],
  [
    "a member of the result that may be something else",
    withOutput({ ...tool.outputSchema, properties: { size: { type: ["number", "null"] } } }),
    ["size of the result has changed"],
  ],
])("%s breaks callers", (_what, after, changes) => {
  expect(breakingChanges(tool, after)).toEqual(changes);
});

test("what is nested has its path, in objects and in lists", () => {
  const nested = (inner: object, items: object): CatalogTool =>
    withProperty("list", { items: { properties: { inner, list: { items } } } });
  expect(breakingChanges(nested({ type: "number" }, {}), nested({ type: "string" }, { type: "string" }))).toEqual([
    "the parameter list[].inner: the type was number and is now string",
    "the parameter list[].list[]: the type was any and is now string",
  ]);
  expect(breakingChanges(nested({}, {}), nested({ required: ["a"], additionalProperties: false }, {}))).toEqual([
    "the parameter list[].inner.a is now required",
    `list[].inner ${closes}`,
  ]);
  expect(breakingChanges(withProperty("list", { items: { type: "string" } }), withProperty("list", {}))).toEqual([]);
  expect(breakingChanges(withProperty("list", {}), withProperty("list", { items: { type: "string" } }))).toEqual([
    "the parameter list[]: the schema has changed",
  ]);
});

test("a parameter that was never possible, and one that may be anything now, break no caller", () => {
  expect(breakingChanges(withInput({ properties: { a: false } }), withInput({ properties: { a: {} } }))).toEqual([]);
  expect(breakingChanges(withInput({ properties: { a: {} } }), withInput({ properties: { a: true } }))).toEqual([]);
  expect(breakingChanges(withInput({ properties: { a: true } }), withInput({ properties: { a: false } }))).toEqual([
    "the parameter a: the schema has changed",
  ]);
});

test("a result without promises before, or with the same, breaks no caller", () => {
  expect(breakingChanges(withOutput(undefined), tool)).toEqual([]);
  expect(breakingChanges(tool, withOutput({ ...tool.outputSchema }))).toEqual([]);
});

test("twenty levels are compared one by one, and what is deeper as a whole", () => {
  const deep = (levels: number, schema: object): object =>
    levels === 0 ? schema : { properties: { a: deep(levels - 1, schema) } };
  const changesAt = (levels: number): readonly string[] =>
    breakingChanges(
      withInput({ properties: { a: deep(levels, { type: "string" }) } }),
      withInput({ properties: { a: deep(levels, { type: "number" }) } }),
    );
  const path = (levels: number): string => Array.from({ length: levels + 1 }, () => "a").join(".");
  expect(changesAt(19)).toEqual([`the parameter ${path(19)}: the type was string and is now number`]);
  expect(changesAt(20)).toEqual([`the parameter ${path(20)}: the schema has changed`]);
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
  expect(breakingChanges(withInput({ additionalProperties: true }), withInput(closed))).toEqual([`the tool ${closes}`]);
});

test("a schema for other parameters is compared with the earlier one, at its own path", () => {
  const others = (schema: object | boolean): CatalogTool => withInput({ additionalProperties: schema });
  expect(breakingChanges(others({ type: "string" }), others({ type: "number" }))).toEqual([
    "the parameter *: the type was string and is now number",
  ]);
  expect(breakingChanges(others({ type: "integer" }), others({ type: "number" }))).toEqual([]);
  const nested = (schema: object): CatalogTool => withProperty("path", { additionalProperties: schema });
  expect(breakingChanges(nested({ type: "string" }), nested({ type: "number" }))).toEqual([
    "the parameter path.*: the type was string and is now number",
  ]);
});

test.each<[string, (schema: object) => object, string]>([
  ["lists", (items) => ({ items }), "[]"],
  ["other parameters", (additionalProperties) => ({ additionalProperties }), ".*"],
])("twenty levels of %s are compared one by one too", (_, around, step) => {
  const deep = (levels: number, schema: object): object => (levels === 0 ? schema : around(deep(levels - 1, schema)));
  const changesAt = (levels: number): readonly string[] =>
    breakingChanges(
      withInput({ properties: { a: deep(levels, { type: "string" }) } }),
      withInput({ properties: { a: deep(levels, { type: "number" }) } }),
    );
  expect(changesAt(19)).toEqual([`the parameter a${step.repeat(19)}: the type was string and is now number`]);
  expect(changesAt(20)).toEqual([`the parameter a${step.repeat(20)}: the schema has changed`]);
});

test.each([
  ["a smaller step of a number", "multipleOf", 4, 2, "multipleOf is now 2 (it was 4)"],
  ["a larger step of a number", "multipleOf", 2, 4, "multipleOf is now 4 (it was 2)"],
  ["a limit that was no number", "maximum", "9", 10, 'maximum is now 10 (it was "9")'],
  ["a limit that is no number", "minimum", 9, "1", 'minimum is now "1" (it was 9)'],
  ["a new limit", "minimum", undefined, 1, "minimum is now 1"],
])("%s breaks callers", (_, name, before, after, change) => {
  expect(breakingChanges(withProperty("n", { [name]: before }), withProperty("n", { [name]: after }))).toEqual([
    `the parameter n: ${change}`,
  ]);
});
