import { createHash } from "node:crypto";
import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { CatalogTool } from "../../src/server/catalog.ts";
import {
  definitionDigest,
  definitionOf,
  differenceOf,
  isSameDefinition,
  prepareDigests,
  toolChanges,
} from "../../src/server/tool-changes.ts";

const pay: CatalogTool = {
  name: "pay",
  title: "Pay",
  description: "Pays.",
  inputSchema: { type: "object", properties: { amount: { type: "number" }, to: { type: "string" } } },
};

test("a definition is its name, title, description, schemas and annotations, in whatever order they stand", () => {
  const turned: CatalogTool = JSON.parse(
    JSON.stringify({
      inputSchema: { properties: { to: { type: "string" }, amount: { type: "number" } }, type: "object" },
      description: "Pays.",
      execution: { taskSupport: "optional" },
      icons: [],
      title: "Pay",
      name: "pay",
    }),
  );
  expect(definitionDigest(turned)).toBe(definitionDigest(pay));
  expect(definitionDigest(pay)).toBe(createHash("sha256").update(definitionOf(pay)).digest("hex"));
  expect(isSameDefinition(turned, pay)).toBe(true);
});

test("tools are added, removed and changed, in the order of their lists", () => {
  const named = (name: string, changes: Partial<CatalogTool> = {}): CatalogTool => ({ ...pay, name, ...changes });
  const before = [named("a"), named("b"), named("c"), named("d")];
  const after = [named("y"), named("d", { title: "D" }), named("b", { description: "B" }), named("c"), named("x")];
  expect(toolChanges(before, after)).toEqual({ added: ["y", "x"], removed: ["a"], changed: ["d", "b"] });
  expect(toolChanges([], after)).toEqual({ added: ["y", "d", "b", "c", "x"], removed: [], changed: [] });
  expect(toolChanges(before, [])).toEqual({ added: [], removed: ["a", "b", "c", "d"], changed: [] });
  expect(toolChanges(before, [...before])).toEqual({ added: [], removed: [], changed: [] });
});

test.each<Partial<CatalogTool>>([
  { name: "other" },
  { title: "Other" },
  { description: "Other." },
  { inputSchema: { type: "object" } },
  { outputSchema: { type: "object" } },
  { annotations: {} },
])("a definition with %j is another one", async (changed) => {
  const other = { ...pay, ...changed };
  await prepareDigests([pay, other]);
  expect([isSameDefinition(pay, other), definitionDigest(pay) === definitionDigest(other)]).toEqual([false, false]);
  expect(JSON.parse(definitionOf(other))).toEqual({ ...pay, ...changed });
});

test("eight levels below a schema are compared one by one, and what is deeper as a whole", () => {
  const deep = (levels: number, value: string): object => (levels === 0 ? { value } : { a: deep(levels - 1, value) });
  const difference = (levels: number): unknown =>
    differenceOf({ ...pay, inputSchema: { ...deep(levels, "x") } }, { ...pay, inputSchema: { ...deep(levels, "y") } });
  expect(difference(7)).toEqual([{ member: "inputSchema.a.a.a.a.a.a.a.value", before: "x", after: "y" }]);
  expect(difference(8)).toEqual([
    { member: "inputSchema.a.a.a.a.a.a.a.a", before: '{"value":"x"}', after: '{"value":"y"}' },
  ]);
});

test.each<[string, Partial<CatalogTool>, unknown]>([
  ["nothing", {}, []],
  ["a text", { description: "Pays twice." }, [{ member: "description", before: "Pays.", after: "Pays twice." }]],
  [
    "one member deep inside",
    { inputSchema: { type: "object", properties: { amount: { type: "string" }, to: { type: "string" } } } },
    [{ member: "inputSchema.properties.amount.type", before: "number", after: "string" }],
  ],
  [
    "what is new and what is gone",
    { inputSchema: { type: "object", properties: { amount: { type: "number" }, cc: { enum: ["a"] } } } },
    [
      { member: "inputSchema.properties.to", before: '{"type":"string"}' },
      { member: "inputSchema.properties.cc", after: '{"enum":["a"]}' },
    ],
  ],
  ["annotations", { annotations: { readOnlyHint: true } }, [{ member: "annotations", after: '{"readOnlyHint":true}' }]],
  [
    "a list, whole",
    { inputSchema: { ...pay.inputSchema, required: [] } },
    [{ member: "inputSchema.required", after: "[]" }],
  ],
])("the difference is %s", (_, changed, expected) => {
  expect(differenceOf(pay, { ...pay, ...changed })).toEqual(expected);
});

test("a difference is told wherever there is one, and nowhere else", () => {
  const schema = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
  const tools = fc.record({
    name: fc.constant("t"),
    description: fc.string(),
    inputSchema: schema,
    annotations: schema,
  });
  fc.assert(
    fc.property(tools, tools, (one, other) => {
      const [a, b]: CatalogTool[] = JSON.parse(JSON.stringify([one, other]));
      if (a === undefined || b === undefined) throw new Error("no tools");
      expect(differenceOf(a, b).length === 0).toBe(definitionOf(a) === definitionOf(b));
      expect(differenceOf(a, JSON.parse(JSON.stringify(a)))).toEqual([]);
    }),
    { numRuns: scaled(3000), seed: seed() },
  );
});
