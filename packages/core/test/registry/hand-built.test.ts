import { expect, test } from "vitest";
import {
  AuthProviderType,
  type CallableTool,
  createAllowList,
  DiscoveredMCPTool,
  type DiscoveredMCPToolOptions,
  getStringifiedResultForDisplay,
  ToolConfirmationOutcome,
} from "../../src/index.ts";
import { MCPToolTestHelper } from "../../src/testing.ts";

function toolOf(mcpTool: CallableTool, serverToolName: string, more: Partial<DiscoveredMCPToolOptions> = {}) {
  const parameterSchemaJson = { type: "object" };
  return new DiscoveredMCPTool({
    mcpTool,
    serverName: "s",
    serverToolName,
    description: "",
    parameterSchemaJson,
    ...more,
  });
}

async function answer(tool: DiscoveredMCPTool, outcome: ToolConfirmationOutcome): Promise<void> {
  const details = await tool.shouldConfirmExecute({});
  if (details !== false) await details.onConfirm(outcome);
}

const isAsked = async (tool: DiscoveredMCPTool): Promise<boolean> => (await tool.shouldConfirmExecute({})) !== false;

test("an answer for the server counts for all tools of the same connection, and for no other", async () => {
  const [one, other] = [MCPToolTestHelper.createMockCallableTool(), MCPToolTestHelper.createMockCallableTool()];
  await answer(toolOf(one, "a"), ToolConfirmationOutcome.ProceedAlwaysServer);
  expect(await isAsked(toolOf(one, "b"))).toBe(false);
  expect(await isAsked(toolOf(one, "b").asFullyQualifiedTool())).toBe(false);
  expect(await isAsked(toolOf(one, "b", { serverName: "t" }))).toBe(true);
  expect(await isAsked(toolOf(other, "a"))).toBe(true);
});

test("an answer for a tool counts for that tool", async () => {
  const callable = MCPToolTestHelper.createMockCallableTool();
  await answer(toolOf(callable, "a"), ToolConfirmationOutcome.ProceedAlwaysTool);
  expect(await isAsked(toolOf(callable, "a"))).toBe(false);
  expect(await isAsked(toolOf(callable, "b"))).toBe(true);
});

test("a list of one's own is shared by those that are given it, and by nobody else", async () => {
  const callable = MCPToolTestHelper.createMockCallableTool();
  const allowList = createAllowList();
  await answer(toolOf(callable, "a", { allowList }), ToolConfirmationOutcome.ProceedAlwaysServer);
  expect(await isAsked(toolOf(MCPToolTestHelper.createMockCallableTool(), "b", { allowList }))).toBe(false);
  expect(await isAsked(toolOf(callable, "b"))).toBe(true);
});

test.each<[string, readonly unknown[]]>([
  ["positions, as in Gemini CLI", [MCPToolTestHelper.createMockCallableTool(), "s", "t", "", {}, 1000, true]],
  ["nothing", []],
  ["an object without names", [{ description: "" }]],
])("a tool built from %s is refused, with the form to use", (_, given) => {
  expect(() => Reflect.construct(DiscoveredMCPTool, [...given])).toThrow(
    expect.objectContaining({
      code: "usage",
      next: expect.stringMatching(/^new DiscoveredMCPTool\(\{ mcpTool, serverName, serverToolName,/) as string,
    }),
  );
});

test("no parts are shown as an empty list", () => {
  for (const parts of [undefined, null, []]) expect(getStringifiedResultForDisplay(parts)).toBe("```json\n[]\n```");
});

test("AuthProviderType has the short names too", () => {
  expect(AuthProviderType).toMatchObject({ OAUTH: "oauth", GOOGLE: "google", SA_IMPERSONATION: "sa-impersonation" });
});
