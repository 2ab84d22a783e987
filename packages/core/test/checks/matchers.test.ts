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

test("each expectation is compared; a passed matcher says what did match, for a negated one", async () => {
  const match = (expected: Parameters<typeof mcpMatchers.toMatchToolResult>[1]) => {
    const { pass, message } = mcpMatchers.toMatchToolResult(result, expected);
    return [pass, message()];
  };
  const matched = [true, "the result matches the expectation"];
  const whole = JSON.stringify(result.content[0]?.text);
  expect(match({})).toEqual(matched);
  expect(match({ contains: ["ok", "job"], matches: "job \\d+", isError: false })).toEqual(matched);
  expect(match({ contains: "no" })).toEqual([false, `the text does not contain "no": ${whole}`]);
  expect(match({ contains: ["ok", "a", "x"] })).toEqual([
    false,
    `the text does not contain "a": ${whole}\nthe text does not contain "x": ${whole}`,
  ]);
  // A pattern may match at the very start of the text.
  expect(match({ matches: /^2026/ })).toEqual(matched);
  expect(match({ matches: /OK/ })).toEqual([false, `the text does not match /OK/: ${whole}`]);
  expect(match({ matches: "OK" })).toEqual([false, `the text does not match OK: ${whole}`]);
  expect(() => match({ matches: "(" })).toThrow(/^"\(" cannot be used as a pattern: ./);
  const fits = await mcpMatchers.toMatchToolSchema(result, { required: ["size"] });
  expect(fits.message()).toBe("the structured content matches the schema");
});

test("a masked result has no times, and nothing that a pattern of the test finds", () => {
  expect(maskResult(result, [/job \d+/g])).toEqual({
    ...result,
    content: [{ type: "text", text: "<time>: ok, <masked>" }],
  });
  expect(maskResult({ content: [], isError: true })).toEqual({ content: [], isError: true });
});
