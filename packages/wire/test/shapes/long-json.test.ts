import { expect, test } from "vitest";
import { parseLongJson } from "../../src/shapes/sliced-json.ts";

/** Parses with a count of the turns that the parser gave to other code. */
async function parsed(text: string): Promise<{ readonly value: unknown; readonly turns: number }> {
  let turns = 0;
  const nextTurn = async (): Promise<void> => {
    turns += 1;
  };
  return { value: await parseLongJson(text, { nextTurn }), turns };
}

const tools = JSON.stringify(
  Array.from({ length: 2_000 }, (_, at) => ({
    name: `tool_${at}`,
    description: "Reads a file of the workspace, and returns its text with line numbers.",
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  })),
);
const dense = "{},".repeat(600_000);

test.each([
  ["a list of tools", tools],
  ["one long string", JSON.stringify("x".repeat(5_000_000))],
  ["small values, but few", `[${"{},".repeat(50_000)}0]`],
])("a text that JSON.parse reads in a few milliseconds is parsed at once: %s", async (_, text) => {
  expect(await parsed(text)).toStrictEqual({ value: JSON.parse(text), turns: 0 });
});

test.each([
  ["only small values", `[${dense}0]`],
  ["small values after a long string", `["${"x".repeat(400_000)}",${dense}0]`],
  ["small values before a long string", `[${dense}"${"x".repeat(400_000)}"]`],
])("a text that would block the event loop gives other code its turns: %s", async (_, text) => {
  const { value, turns } = await parsed(text);
  expect(value).toHaveLength(600_001 + (text.startsWith('["') ? 1 : 0));
  expect(turns).toBeGreaterThan(10);
});

test("a long text that is not JSON is undefined", async () => {
  expect(await parseLongJson(`${tools}]`)).toBeUndefined();
  expect(await parseLongJson(`[${dense}`)).toBeUndefined();
});
