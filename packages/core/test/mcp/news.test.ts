import { expect, test } from "vitest";
import { toNews } from "../../src/mcp/news.ts";

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
