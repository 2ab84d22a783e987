/** The public names of `@fairlead/core/gemini`: the classes of Gemini CLI's MCP subsystem, without a host. */

export { MCPOAuthProvider, type MCPOAuthProviderOptions, type SignInServer } from "../auth/oauth/oauth-provider.ts";
export { MCPOAuthTokenStorage, openTokenStorage, type TokenStorageOptions } from "../auth/store/token-storage.ts";
export { HostError } from "../errors.ts";
export { MCPDiscoveryState, MCPServerStatus } from "../events.ts";
export type {
  McpContentBlock,
  McpMediaBlock,
  McpResourceBlock,
  McpResourceLinkBlock,
  McpTextBlock,
} from "../normalise/content/blocks.ts";
export type { CallableTool } from "../normalise/model-types.ts";
export { type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "../policy/confirmation.ts";
export { DiscoveredMCPPrompt, type DiscoveredMCPPromptOptions } from "../server/discovered-prompt.ts";
export type { PromptRegistryOptions } from "../server/registries.ts";
export { AuthProviderType } from "../settings/define/entry-authentication.ts";
export type { MCPOAuthConfig, MCPServerConfig } from "../settings/define/server-config.ts";
export { TrustLevel } from "../trust/trusted-folders.ts";
export { type AllowList, createAllowList } from "./allow-list.ts";
export {
  BaseDeclarativeTool,
  BaseTool,
  BaseToolInvocation,
  type NamedCall as FunctionCall,
  type ResponsePart as Part,
  type ToolDeclaration as FunctionDeclaration,
  type ToolMcpConfirmationDetails,
  type ToolParams,
  type ToolRunResult as ToolResult,
} from "./base-tool.ts";
export {
  type ClientUpdateEmitter,
  discoverMcpTools,
  type ManagedClient,
  McpClientManager,
  type McpClientManagerOptions,
} from "./client-manager.ts";
export type { Config, WorkspaceContext } from "./config.ts";
export { getStringifiedResultForDisplay, transformMcpContentToParts } from "./content.ts";
export {
  checkedName as generateValidName,
  discoverPrompts,
  discoverTools,
  hasValidTypes,
  isEnabled,
  type PromptSink,
  populateMcpServerCommand,
} from "./discover.ts";
export { DiscoveredMCPTool, DiscoveredMCPToolInvocation, type DiscoveredMCPToolOptions } from "./discovered-tool.ts";
export { type CreateMcpClientOptions, createMcpClient, McpClient, type ToolSink } from "./mcp-client.ts";
export { type CatalogClient, type McpToToolOptions, mcpToTool } from "./mcp-to-tool.ts";
export type { EntryOptions } from "./open-entry.ts";
export { type GatedTool, MCPPermissionManager } from "./permission-manager.ts";
export { OwnPromptRegistry as PromptRegistry } from "./prompt-registry.ts";
export {
  ConnectedClient,
  connectToMcpServer,
  type SdkCall,
  type SdkClient,
  type SdkRequestOptions,
} from "./sdk-client.ts";
export {
  type ExecutableTool,
  SecureMCPToolExecutor,
  type SecureMCPToolExecutorOptions,
} from "./secure-executor.ts";
export {
  addMCPStatusChangeListener,
  getMCPServerStatus,
  removeMCPStatusChangeListener,
  type StatusChangeListener,
} from "./server-status.ts";
export { MCPToolTestHelper, type MockCallableTool } from "./test-helper.ts";
export { ToolRegistry } from "./tool-registry.ts";
export { isWorkspaceTrusted, LoadedTrustedFolders, loadTrustedFolders } from "./trusted-folders.ts";
