import { describe, expect, test } from "vitest";
import { DiscoveredMCPTool } from "../src/gemini/discovered-tool.ts";
import { MCPToolTestHelper } from "../src/testing.ts";

describe("DiscoveredMCPTool, by way of its test helper", () => {
  test("executes the tool and returns a formatted result", async () => {
    const tool = MCPToolTestHelper.createTestTool("test-server", "test-tool");
    await MCPToolTestHelper.testToolExecution(tool, { input: "test" }, { success: true });
  });

  test("asks for confirmation of untrusted tools", async () => {
    const tool = MCPToolTestHelper.createTestTool("untrusted-server", "dangerous-tool");
    const details = await tool.shouldConfirmExecute({ action: "delete" }, new AbortController().signal);
    expect(details).toMatchObject({ type: "mcp", serverName: "untrusted-server", toolName: "dangerous-tool" });
  });

  test("skips the confirmation of trusted tools", async () => {
    const mcpTool = MCPToolTestHelper.createMockCallableTool();
    const tool = new DiscoveredMCPTool(mcpTool, "trusted-server", "safe-tool", "Safe", { type: "object" }, 5000, true);
    expect(await tool.shouldConfirmExecute({ action: "read" }, new AbortController().signal)).toBe(false);
  });
});

describe("the test helper", () => {
  test("makes a tool, and takes the arguments that follow the first seven as a list", async () => {
    const trusting = { isTrustedFolder: () => true };
    expect(MCPToolTestHelper.createTestTool("s", "t", [])).toMatchObject({ name: "t", timeout: 5000, trust: false });
    expect(MCPToolTestHelper.createTestTool("s", "t", ["my name"])).toMatchObject({ name: "my_name" });
    expect(MCPToolTestHelper.createTestTool("s", "t", ["u", trusting])).toMatchObject({ name: "u" });
    expect(() => MCPToolTestHelper.createTestTool("s", "t", [7])).toThrow('"nameOverride" must be a string');
    expect(() => MCPToolTestHelper.createTestTool("s", "t", null as unknown as [])).toThrow('"overrides" must be');
    expect(() => MCPToolTestHelper.createMockCallableTool(1 as unknown as Record<string, unknown>)).toThrow(
      '"responses" must be',
    );
  });

  test("makes a tool of named parts, each of which can be another", () => {
    expect(MCPToolTestHelper.createTestTool()).toMatchObject({
      name: "test-tool",
      serverName: "test-server",
      serverToolName: "test-tool",
      description: "Test tool description",
      timeout: 5000,
      trust: false,
    });
    expect(MCPToolTestHelper.createTestTool("s", "t", { trust: true, nameOverride: "u" })).toMatchObject({
      name: "u",
      trust: true,
    });
  });

  test("answers each call under its name, and remembers the calls", async () => {
    const mcpTool = MCPToolTestHelper.createMockCallableTool({ add: { sum: 3 } });
    const tool = MCPToolTestHelper.createTestTool("s", "add", { mcpTool });
    const { returnDisplay } = await MCPToolTestHelper.testToolExecution(tool, { a: 1, b: 2 }, { sum: 3 });
    expect(returnDisplay).toBe('{"sum":3}');
    expect(mcpTool.calls).toEqual([{ name: "add", args: { a: 1, b: 2 } }]);
    expect(await mcpTool.tool()).toMatchObject({ functionDeclarations: [{ name: "add" }] });
  });

  test.each([[null], [0], [""], [false]])("an answer may be %j", async (answer) => {
    const mcpTool = MCPToolTestHelper.createMockCallableTool({ add: answer });
    const tool = MCPToolTestHelper.createTestTool("s", "add", { mcpTool });
    await MCPToolTestHelper.testToolExecution(tool, {}, answer);
  });

  test("throws when a tool gives something else than expected", async () => {
    const run = MCPToolTestHelper.testToolExecution(MCPToolTestHelper.createTestTool(), {}, { success: false });
    await expect(run).rejects.toThrow('test-tool gave {"success":true} instead of {"success":false}');
  });

  test("passes on what the tool throws", async () => {
    const mcpTool = {
      ...MCPToolTestHelper.createMockCallableTool(),
      callTool: () => Promise.reject(new Error("no disk")),
    };
    const tool = MCPToolTestHelper.createTestTool("s", "t", { mcpTool });
    await expect(MCPToolTestHelper.testToolExecution(tool, {})).rejects.toThrow("no disk");
  });
});
