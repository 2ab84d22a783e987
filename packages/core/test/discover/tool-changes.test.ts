import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { CatalogTool } from "../../src/discover/catalog.ts";
import { definitionDigest, definitionOf, differenceOf } from "../../src/discover/tool-changes.ts";

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
  expect(definitionDigest(pay)).toMatch(/^[0-9a-f]{64}$/);
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
