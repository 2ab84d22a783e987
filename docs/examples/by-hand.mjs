// Gemini CLI's own classes, put together by hand: clients, their manager, tools, the registry, permissions, the executor.
// There is no host here, so nothing reads settings, asks about trust or applies policy: this program does what it wants to have done.
import {
  createMcpClient,
  DiscoveredMCPTool,
  MCPPermissionManager,
  McpClientManager,
  mcpToTool,
  SecureMCPToolExecutor,
  ToolConfirmationOutcome,
  ToolRegistry,
} from "@fairlead/core";

// The servers, as entries of `mcpServers`: { "files": { "command": "npx", "args": […] } }
const servers = JSON.parse(process.argv[2] ?? "{}");
const [, , , wanted = "", args = "{}"] = process.argv;

const clients = Object.entries(servers).map(([name, config]) => createMcpClient(name, config));
const manager = new McpClientManager({ servers: clients.map((client) => ({ client })) });
const registry = new ToolRegistry();
const permissions = new MCPPermissionManager();
const executor = new SecureMCPToolExecutor({ maxConcurrentExecutions: 5, executionTimeout: 30_000 });
permissions.denyToolGlobally("delete_all");

try {
  // Connects to all servers side by side; one that fails says so in its state and disturbs no other.
  await manager.discoverAllMcpTools();
  for (const state of manager.states()) console.error(`${state.name}: ${state.status}`);
  for (const client of clients) {
    if (client.getStatus() !== "connected") continue;
    const mcpTool = mcpToTool(client);
    const { functionDeclarations = [] } = await mcpTool.tool();
    permissions.setServerPermissions(
      client.name,
      functionDeclarations.map(({ name }) => name),
    );
    for (const { name, description, parametersJsonSchema } of functionDeclarations) {
      const tool = new DiscoveredMCPTool({
        mcpTool,
        serverName: client.name,
        serverToolName: name,
        description,
        parameterSchemaJson: parametersJsonSchema,
        timeout: servers[client.name].timeout,
        trust: servers[client.name].trust,
      });
      const permitted = permissions.createSecureTool(tool);
      // Of two tools with the same name the first keeps it, the other becomes server__tool.
      if (permitted) registry.registerTool(permitted);
    }
  }

  const tool = registry.getTool(wanted);
  if (tool === undefined) {
    for (const { name, serverName } of registry.getAllTools()) console.log(`${name} (${serverName})`);
  } else {
    const params = JSON.parse(args);
    const details = await tool.shouldConfirmExecute(params);
    // A program for people would ask here; this one was told on its command line what to call.
    if (details) await details.onConfirm(ToolConfirmationOutcome.ProceedOnce);
    const { returnDisplay, error } = await executor.executeWithSafeguards(tool, params);
    console.log(returnDisplay);
    if (error) process.exitCode = 1;
  }
} finally {
  await executor[Symbol.asyncDispose]();
  await manager.stop();
}
