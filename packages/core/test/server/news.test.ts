import { expect, test } from "vitest";
import type { Catalog } from "../../src/server/catalog.ts";
import { catalogNews, kindsOf, toNews } from "../../src/server/news.ts";
import { toolChanges } from "../../src/server/tool-changes.ts";

test.each<[string, object, object | undefined]>([
  ["notifications/tools/list_changed", {}, { type: "list_changed", server: "s", list: "tools" }],
  ["notifications/prompts/list_changed", { a: 1 }, { type: "list_changed", server: "s", list: "prompts" }],
  ["notifications/resources/list_changed", {}, { type: "list_changed", server: "s", list: "resources" }],
  ["notifications/resources/updated", { uri: "x://1" }, { type: "resource_updated", server: "s", uri: "x://1" }],
  ["notifications/resources/updated", { uri: 7 }, undefined],
  [
    "notifications/message",
    { level: "error", logger: "db", data: { a: [1] } },
    { type: "log", server: "s", level: "error", logger: "db", data: { a: [1] } },
  ],
  ["notifications/message", { level: 3 }, { type: "log", server: "s", level: "info", data: null }],
  ["notifications/subscriptions/acknowledged", {}, undefined],
  ["constructor", {}, undefined],
])("%s %j", (method, params, news) => {
  expect(toNews("s", method, { ...params })).toEqual(news);
});

const empty: Catalog = {
  tools: [],
  prompts: [],
  resources: [],
  resourceTemplates: [],
  dropped: [],
  repaired: [],
  truncated: [],
};
const tool = (name: string, description = ""): Catalog["tools"][number] => ({ name, description, inputSchema: {} });
const prompts = [{ name: "p", arguments: [] }];
const resources = [{ uri: "x://1", name: "one" }];
const resourceTemplates = [{ uriTemplate: "x://{n}", name: "n" }];

test("after a notification about a list, the catalog reads these lists again", () => {
  expect(kindsOf).toEqual({
    tools: ["tools"],
    prompts: ["prompts"],
    resources: ["resources", "resourceTemplates", "skills"],
  });
});

test.each<[string, Partial<Catalog> | undefined, Partial<Catalog>, readonly string[]]>([
  ["a first catalog without items", undefined, {}, []],
  ["a first catalog", undefined, { tools: [tool("a")], prompts, resources }, ["tools", "prompts", "resources"]],
  ["equal catalogs", { tools: [tool("a")], prompts }, { tools: [tool("a")], prompts: [...prompts] }, []],
  ["another tool", { tools: [tool("a")] }, { tools: [tool("a"), tool("b")] }, ["tools"]],
  ["one tool less", { tools: [tool("a"), tool("b")] }, { tools: [tool("a")] }, ["tools"]],
  ["one of two tools changed", { tools: [tool("a"), tool("b")] }, { tools: [tool("a"), tool("b", "x")] }, ["tools"]],
  ["another prompt", {}, { prompts }, ["prompts"]],
  ["another resource", { resourceTemplates }, { resources, resourceTemplates }, ["resources"]],
  ["another template", { resources }, { resources, resourceTemplates }, ["resources"]],
])("the event for %s names the changed lists", (_what, before, after, lists) => {
  const news = catalogNews("s", before && { ...empty, ...before }, { ...empty, ...after });
  const tools = toolChanges(before?.tools ?? [], after.tools ?? []);
  expect(news).toEqual(lists.length === 0 ? undefined : { type: "catalog", server: "s", lists, tools });
});
