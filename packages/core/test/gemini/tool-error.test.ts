import { expect, test } from "vitest";
import { isToolError } from "../../src/gemini/content.ts";

test.each<[Record<string, unknown>, boolean]>([
  [{ isError: true, content: [] }, true],
  [{ isError: "true", content: [] }, true],
  [{ isError: false, content: [] }, false],
  [{ isError: "false", content: [] }, false],
  [{ error: { isError: true, message: "m" } }, true],
  [{ error: { isError: "true" } }, true],
  [{ error: { isError: false }, content: [] }, false],
  [{ error: "failed" }, true],
  [{ error: { message: "m" } }, true],
  [{ error: null, content: [] }, false],
  [{ error: "", content: [] }, false],
  [{ content: [{ text: "isError: true" }] }, false],
  [{}, false],
])("whether %j is an error of the tool: %j", (response, expected) => {
  expect(isToolError([{ text: "a" }, { functionResponse: { name: "t", response } }])).toBe(expected);
});
