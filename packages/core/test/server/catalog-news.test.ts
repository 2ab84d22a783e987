import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import type { Catalog, CatalogTool } from "../../src/server/catalog.ts";
import { catalogNews } from "../../src/server/news.ts";

const tool = (name: string, inputSchema: JsonObject = { type: "object" }): CatalogTool => ({ name, inputSchema });
const catalogOf = (lists: Partial<Catalog>): Catalog => ({
  tools: [],
  prompts: [],
  resources: [],
  resourceTemplates: [],
  dropped: [],
  repaired: [],
  truncated: [],
  ...lists,
});
const none = { added: [], removed: [], changed: [] };

test("without a catalog before, everything is new", () => {
  expect(catalogNews("s", undefined, catalogOf({ tools: [tool("a"), tool("b")] }))).toEqual({
    type: "catalog",
    server: "s",
    lists: ["tools"],
    tools: { ...none, added: ["a", "b"] },
  });
});

test("added, removed and changed tools are told by name", () => {
  const before = catalogOf({ tools: [tool("gone"), tool("kept"), tool("other")] });
  const after = catalogOf({ tools: [tool("kept"), tool("other", { type: "object", title: "new" }), tool("new")] });
  expect(catalogNews("s", before, after)).toMatchObject({
    lists: ["tools"],
    tools: { added: ["new"], removed: ["gone"], changed: ["other"] },
  });
});

test("the same in another order of members is nothing new", () => {
  const before = catalogOf({ tools: [tool("a", { type: "object", properties: { b: {}, c: { x: 1, y: 2 } } })] });
  const after = catalogOf({ tools: [tool("a", { properties: { c: { y: 2, x: 1 }, b: {} }, type: "object" })] });
  expect(catalogNews("s", before, after)).toBeUndefined();
});

test("templates belong to the resources; other lists are told apart from tools", () => {
  const before = catalogOf({ tools: [tool("a")] });
  const after = catalogOf({ tools: [tool("a")], resourceTemplates: [{ name: "t", uriTemplate: "x://{a}" }] });
  expect(catalogNews("s", before, after)).toEqual({ type: "catalog", server: "s", lists: ["resources"], tools: none });
});

test("definitions are compared however deep they are", () => {
  const deep = (end: number): JsonObject => JSON.parse(`${'{"a":'.repeat(20_000)}${end}${"}".repeat(20_000)}`);
  const catalog = (end: number): Catalog => catalogOf({ tools: [tool("a", deep(end))] });
  expect(catalogNews("s", catalog(1), catalog(1))).toBeUndefined();
  expect(catalogNews("s", catalog(1), catalog(2))).toMatchObject({ tools: { changed: ["a"] } });
});
