// Gemini CLI's own classes, put together by hand: the manager and its clients, the registries, permissions, the executor.
// There is no host here, so nothing reads settings, asks about trust or applies policy: this program does what it wants to have done.
import {
  MCPPermissionManager,
  McpClientManager,
  PromptRegistry,
  SecureMCPToolExecutor,
  ToolConfirmationOutcome,
  ToolRegistry,
} from "@fairlead/core/gemini";

// The servers, as entries of `mcpServers`: { "files": { "command": "npx", "args": […] } }
const servers = JSON.parse(process.argv[2] ?? "{}");
const [, , , wanted = "", args = "{}"] = process.argv;

const [tools, prompts] = [new ToolRegistry(), new PromptRegistry()];
const workspace = { getDirectories: () => [process.cwd()] };
const manager = new McpClientManager(servers, undefined, tools, prompts, false, workspace);
const permissions = new MCPPermissionManager();
const executor = new SecureMCPToolExecutor({ maxConcurrentExecutions: 5, executionTimeout: 30_000 });
permissions.denyToolGlobally("delete_all");

try {
  // Connects to all servers side by side; one that fails is named in a warning and disturbs no other.
  await manager.discoverAllMcpTools({ isTrustedFolder: () => true });
  for (const { name, status } of manager.states()) console.error(`${name}: ${status}`);
  for (const name of Object.keys(servers)) {
    const offered = tools.getToolsByServer(name).map(({ serverToolName }) => serverToolName);
    permissions.setServerPermissions(name, offered);
  }

  const found = tools.getTool(wanted);
  const tool = found && permissions.createSecureTool(found);
  if (!tool) {
    for (const { name, serverName } of tools.getAllTools()) console.log(`${name} (${serverName})`);
  } else {
    const params = JSON.parse(args);
    const details = await tool.shouldConfirmExecute(params, new AbortController().signal);
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
