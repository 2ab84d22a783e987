import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import {
  type CallableTool,
  createAllowList,
  createMcpClient,
  DiscoveredMCPTool,
  getStringifiedResultForDisplay,
  type McpClient,
  mcpToTool,
  SecureMCPToolExecutor,
  ToolConfirmationOutcome,
} from "../../src/index.ts";

const parameterSchemaJson = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
};

function toolOf(mcpTool: CallableTool, serverToolName: string, serverName = "s"): DiscoveredMCPTool {
  return new DiscoveredMCPTool({ mcpTool, serverName, serverToolName, description: "", parameterSchemaJson });
}

const client = (name: string): McpClient => createMcpClient(name, stdioServer("well-behaved"));

async function answer(tool: DiscoveredMCPTool, outcome: ToolConfirmationOutcome): Promise<void> {
  const details = await tool.shouldConfirmExecute({ text: "x" });
  if (details) await details.onConfirm(outcome);
}

const needsAnswer = async (tool: DiscoveredMCPTool): Promise<boolean> =>
  (await tool.shouldConfirmExecute({ text: "x" })) !== false;

describe("proceed_always_server", () => {
  test("covers every tool of the client, also if each tool has an mcpTool of its own", async () => {
    const [one, other] = [client("s"), client("s")];
    const [asked, covered, foreign] = [
      toolOf(mcpToTool(one), "a"),
      toolOf(mcpToTool(one), "b"),
      toolOf(mcpToTool(other), "b"),
    ];
    await answer(asked, ToolConfirmationOutcome.ProceedAlwaysServer);
    expect(await Promise.all([asked, covered, foreign].map(needsAnswer))).toEqual([false, false, true]);
  });

  test("proceed_always_tool covers one tool", async () => {
    const one = client("s");
    const [asked, again, other] = [
      toolOf(mcpToTool(one), "a"),
      toolOf(mcpToTool(one), "a"),
      toolOf(mcpToTool(one), "b"),
    ];
    await answer(asked, ToolConfirmationOutcome.ProceedAlwaysTool);
    expect(await Promise.all([asked, again, other].map(needsAnswer))).toEqual([false, false, true]);
  });

  test("a list of its own is asked instead", async () => {
    const one = client("s");
    const options = { serverName: "s", serverToolName: "a", description: "", parameterSchemaJson };
    const own = new DiscoveredMCPTool({ ...options, mcpTool: mcpToTool(one), allowList: createAllowList() });
    await answer(own, ToolConfirmationOutcome.ProceedAlwaysServer);
    expect(await Promise.all([own, toolOf(mcpToTool(one), "a")].map(needsAnswer))).toEqual([false, true]);
  });
});

test("Gemini CLI's positional constructor call fails with the form that is needed now", () => {
  const build = (...words: readonly unknown[]): unknown => Reflect.construct(DiscoveredMCPTool, words);
  const mcpTool: CallableTool = { tool: async () => ({}), callTool: async () => [] };
  for (const words of [[mcpTool, "s", "t", "A tool.", parameterSchemaJson], ["s"], []])
    expect(() => build(...words)).toThrow(
      expect.objectContaining({
        code: "usage",
        message: expect.stringContaining(
          "write new DiscoveredMCPTool({ mcpTool, serverName, serverToolName,",
        ) as string,
      }),
    );
});

test.each([undefined, null, []])("the display of %j is a fenced empty list", (parts) => {
  expect(getStringifiedResultForDisplay(parts)).toBe("```json\n[]\n```");
});

test("the executor validates the arguments of a hand-built tool before it runs", async () => {
  let calls = 0;
  const mcpTool: CallableTool = {
    tool: async () => ({}),
    async callTool() {
      calls += 1;
      return [{ text: "done" }];
    },
  };
  await using executor = new SecureMCPToolExecutor();
  const tool = toolOf(mcpTool, "t");
  await expect(executor.executeWithSafeguards(tool, { text: 1 })).rejects.toMatchObject({ code: "arguments_invalid" });
  await expect(executor.executeWithSafeguards(tool, "x")).rejects.toThrow("Invalid parameters: must be an object");
  expect(calls).toBe(0);
  expect(await executor.executeWithSafeguards(tool, { text: "x" })).toMatchObject({ returnDisplay: "done" });
});
