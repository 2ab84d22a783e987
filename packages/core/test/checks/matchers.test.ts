import { expect, test } from "vitest";
import { maskResult, mcpMatchers } from "../../src/testing.ts";

const result = {
  content: [{ type: "text" as const, text: "2026-01-31T08:30:00Z: ok, job 12" }],
  isError: false,
  structuredContent: { size: 3, name: "a" },
};

test("a matcher passes and fails like a file of checks, with the same words", async () => {
  expect(
    mcpMatchers.toMatchToolResult(result, { contains: "ok", matches: /OK/i, structured: { size: 3 } }),
  ).toMatchObject({
    pass: true,
  });
  const failed = mcpMatchers.toMatchToolResult(result, { text: "no", isError: true });
  expect(failed.pass).toBe(false);
  expect(failed.message()).toContain("the call succeeded, but an error was expected");
  expect(await mcpMatchers.toMatchToolSchema(result, { required: ["size"] })).toMatchObject({ pass: true });
  const wrong = await mcpMatchers.toMatchToolSchema(result, { properties: { size: { type: "string" } } });
  expect(wrong.pass).toBe(false);
  expect(wrong.message()).toContain("size");
  const { structuredContent: _, ...onlyText } = result;
  const unstructured = await mcpMatchers.toMatchToolSchema(onlyText, {});
  expect(unstructured.message()).toBe("the result has no structured content, and its text is not JSON");
});

test("a masked result has no times, and nothing that a pattern of the test finds", () => {
  expect(maskResult(result, [/job \d+/g])).toMatchObject({ content: [{ text: "<time>: ok, <masked>" }] });
});
