import { expect, test } from "vitest";
import { adaptResult } from "../../src/bridge/adapt-result.ts";

const plain = { content: [], extra: 1 };

test.each([
  { resultType: "complete" },
  { ttlMs: 0 },
  { cacheScope: "private" },
  { _meta: { "io.modelcontextprotocol/serverInfo": {} } },
  { structuredContent: [1] },
])("a legacy client gets a result without %o", (member) => {
  expect(adaptResult("tools/call", { ...plain, ...member }, "legacy")).toEqual(plain);
});

test("a legacy client gets the members that it knows", () => {
  const result = { ...plain, _meta: { "example.com/a": 1 }, structuredContent: { b: 2 } };
  const modern = { ...result, _meta: { ...result._meta, "io.modelcontextprotocol/serverInfo": {} }, ttlMs: 0 };
  expect(adaptResult("tools/call", modern, "legacy")).toEqual(result);
});

test("a modern client gets a complete result, and a read that it must not cache", () => {
  expect(adaptResult("tools/call", plain, "modern")).toEqual({ resultType: "complete", ...plain });
  const read = { resultType: "complete", ttlMs: 0, cacheScope: "private", contents: [] };
  expect(adaptResult("resources/read", { contents: [] }, "modern")).toEqual(read);
  const own = { resultType: "input_required", ...plain };
  expect(adaptResult("resources/read", own, "modern")).toBe(own);
});
