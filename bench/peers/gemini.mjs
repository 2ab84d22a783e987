// Gemini CLI's own classes. Their configuration is a stand-in that answers what they ask, so their real cost is higher.
import { PromptRegistry } from "@google/gemini-cli-core/dist/src/prompts/prompt-registry.js";
import { ResourceRegistry } from "@google/gemini-cli-core/dist/src/resources/resource-registry.js";
import { McpClientManager } from "@google/gemini-cli-core/dist/src/tools/mcp-client-manager.js";
import { ToolRegistry } from "@google/gemini-cli-core/dist/src/tools/tool-registry.js";
import { debugLogger } from "@google/gemini-cli-core/dist/src/utils/debugLogger.js";

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
  getWorkspaceContext: () => ({ getDirectories: () => [], onDirectoriesChanged: () => () => {} }),
  isTrustedFolder: () => true,
  refreshMcpContext: async () => {},
  setUserInteractedWithMcp: () => {},
};
const silent = () => {};
Object.assign(debugLogger, { log: silent, warn: silent, debug: silent });

const toolRegistry = new ToolRegistry(config, { publish: silent, subscribe: silent, unsubscribe: silent });
const manager = new McpClientManager("1.0.0", config);
manager.setMainRegistries({
  toolRegistry,
  promptRegistry: new PromptRegistry(),
  resourceRegistry: new ResourceRegistry(),
});
let servers = 0;

export async function open({ command, args, env, url }) {
  servers += 1;
  const server = `s${servers}`;
  // It connects and lists in one step.
  await manager.maybeDiscoverMcpServer(server, url === undefined ? { command, args, env } : { httpUrl: url });
  let tool;
  return {
    async list() {
      return {
        // Asked when the measuring is over: it goes through all tools of all servers.
        get length() {
          return toolRegistry.getToolsByServer(server).length;
        },
      };
    },
    async call(name, given) {
      tool ??= toolRegistry.getTool(`mcp_${server}_${name}`);
      const { signal: abortSignal } = new AbortController();
      const { llmContent } = await tool.build(given).execute({ abortSignal });
      return llmContent[0].text.length;
    },
    close: () => manager.stop(),
  };
}
