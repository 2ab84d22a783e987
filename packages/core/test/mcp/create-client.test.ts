import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import {
  createMcpClient,
  DiscoveredMCPTool,
  type MCPServerConfig,
  McpClientManager,
  mcpToTool,
  ToolRegistry,
} from "../../src/index.ts";

test("a client from an entry connects, and its tools can be built by hand, registered and run", async () => {
  const client = createMcpClient("s", stdioServer("well-behaved"));
  const manager = new McpClientManager({ servers: [{ client }] });
  try {
    await manager.discoverAllMcpTools();
    expect(client.getStatus()).toBe("connected");
    const mcpTool = mcpToTool(client);
    const { functionDeclarations = [] } = await mcpTool.tool();
    const registry = new ToolRegistry();
    for (const { name = "", description = "", parametersJsonSchema } of functionDeclarations)
      registry.registerTool(
        new DiscoveredMCPTool({
          mcpTool,
          serverName: client.name,
          serverToolName: name,
          description,
          parameterSchemaJson: parametersJsonSchema,
          trust: true,
        }),
      );
    const [tool] = registry.getAllTools();
    expect(await tool?.execute({ text: "hello" })).toMatchObject({ returnDisplay: expect.any(String) as string });
  } finally {
    await manager.stop();
  }
  expect(client.getStatus()).toBe("disconnected");
});

test.each<[MCPServerConfig, string]>([
  [{}, "settings_invalid"],
  [{ command: "x", url: "http://127.0.0.1:9" }, "settings_invalid"],
  [{ command: "$NO_SUCH_VARIABLE_HERE" }, "variable_unset"],
])("%j cannot be connected", async (config, code) => {
  await expect(createMcpClient("s", config).connect()).rejects.toMatchObject({ code, serverName: "s" });
});
