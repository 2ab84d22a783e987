import type { ToolResult } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { type Call, callTool } from "../../src/execute/call-tool.ts";
import { toOffering } from "../../src/mcp/offering.ts";

const tools = ["greet", "wave"].map((name) => ({ name, inputSchema: {} }));
const rest = { prompts: [], resources: [], resourceTemplates: [], dropped: [], repaired: [], truncated: [] };
const offering = toOffering(
  { tools, ...rest },
  { serverName: "s", filter: { excludeTools: ["wave"] }, mayGrow: false },
);

function clientWith(result: ToolResult, passed: unknown[] = []): Call["client"] {
  return {
    name: "s",
    offering,
    callTool: async (...given) => {
      passed.push(given);
      return result;
    },
  };
}

const done: ToolResult = { content: [{ type: "text", text: "hi" }], isError: false, notes: [] };

test("a call is passed on as it is, and so is its answer", async () => {
  const passed: unknown[] = [];
  const args = { name: "Ada" };
  const result = await callTool({ client: clientWith(done, passed), tool: "greet", args }, { timeout: 5 });
  expect(passed).toEqual([["greet", args, { timeout: 5 }]]);
  expect(result).toEqual({ content: [{ type: "text", text: "hi" }], isError: false });
});

test("what had to be guessed about an answer is a warning", async () => {
  const client = clientWith({ ...done, notes: ["there is no content"] });
  expect(await callTool({ client, tool: "greet", args: {} }, {})).toMatchObject({ warnings: ["there is no content"] });
});

describe("a call that is not passed on", () => {
  test.each<[string, unknown, object]>([
    ["gret", {}, { code: "tool_unknown", message: '"s" has no tool "gret"; did you mean "greet"?' }],
    ["sink", {}, { code: "tool_unknown", message: '"s" has no tool "sink"', next: "fairlead tools s" }],
    ["wave", {}, { code: "denied", message: 'excludeTools of "s" in the settings leaves the tool "wave" out' }],
    ["greet", [], { code: "arguments_invalid", message: "Invalid parameters: must be an object" }],
    ["greet", null, { code: "arguments_invalid" }],
    ["greet", "name=Ada", { code: "arguments_invalid" }],
  ])("%s with %j", async (tool, args, error) => {
    const passed: unknown[] = [];
    const call = callTool({ client: clientWith(done, passed), tool, args }, {});
    await expect(call).rejects.toMatchObject({ serverName: "s", ...error });
    expect(passed).toEqual([]);
  });

  test("nothing is known of a server that has not been discovered", async () => {
    const client = { ...clientWith(done), offering: undefined };
    await expect(callTool({ client, tool: "greet", args: {} }, {})).rejects.toMatchObject({ code: "tool_unknown" });
  });
});
