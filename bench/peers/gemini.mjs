// Gemini CLI's own classes with a replacement for their configuration, so their real cost is higher.
import { PromptRegistry } from "@google/gemini-cli-core/dist/src/prompts/prompt-registry.js";
import { ResourceRegistry } from "@google/gemini-cli-core/dist/src/resources/resource-registry.js";
import { McpClientManager } from "@google/gemini-cli-core/dist/src/tools/mcp-client-manager.js";
import { ToolRegistry } from "@google/gemini-cli-core/dist/src/tools/tool-registry.js";
import { debugLogger } from "@google/gemini-cli-core/dist/src/utils/debugLogger.js";

const silent = () => {};
const config = {
  sanitizationConfig: {
    allowedEnvironmentVariables: [],
    blockedEnvironmentVariables: [],
    enableEnvironmentVariableRedaction: true,
  },
  emitMcpDiagnostic: (severity, message) => {
    if (severity === "error") throw new Error(message);
  },
  getAllowedMcpServers: () => [],
  getApprovalMode: () => "default",
  getBlockedMcpServers: () => [],
  getDebugMode: () => false,
  getExcludeTools: () => undefined,
  getMcpEnablementCallbacks: () => undefined,
  getPolicyEngine: () => undefined,
  getWorkspaceContext: () => ({ getDirectories: () => [], onDirectoriesChanged: () => silent }),
  isTrustedFolder: () => true,
  refreshMcpContext: async () => {},
  setUserInteractedWithMcp: silent,
};
Object.assign(debugLogger, { log: silent, warn: silent, debug: silent });

export async function open(servers) {
  const toolRegistry = new ToolRegistry(config, { publish: silent, subscribe: silent, unsubscribe: silent });
  const manager = new McpClientManager("1.0.0", config);
  const promptRegistry = new PromptRegistry();
  manager.setMainRegistries({ toolRegistry, promptRegistry, resourceRegistry: new ResourceRegistry() });
  await Promise.all(
    servers.map(({ name, command, args, url }) =>
      manager.maybeDiscoverMcpServer(name, url === undefined ? { command, args } : { httpUrl: url }),
    ),
  );
  const known = new Map();
  const find = (server, tool) => {
    const name = `mcp_${server}_${tool}`;
    if (!known.has(name)) known.set(name, toolRegistry.getTool(name));
    return known.get(name);
  };
  return {
    count: () => toolRegistry.getAllTools().length,
    async call(server, tool, given) {
      const { signal: abortSignal } = new AbortController();
      const { llmContent } = await find(server, tool).build(given).execute({ abortSignal });
      return llmContent[0].text.length;
    },
    close: () => manager.stop(),
  };
}
