/** The public names of the library. */

export type { SignInMessage, SignInUi } from "./auth/browser/sign-in-ui.ts";
export { MCPOAuthProvider, type MCPOAuthProviderOptions, type SignInServer } from "./auth/oauth/oauth-provider.ts";
export type { Credentials, StoredClient, StoredTokens } from "./auth/store/credentials.ts";
export { MCPOAuthTokenStorage, openTokenStorage, type TokenStorageOptions } from "./auth/store/token-storage.ts";
export { type Clock, systemClock } from "./clock.ts";
export type { ConnectStep } from "./connect/connect-step.ts";
export type { HostQuestion, OpenedSession, OpenOptions } from "./connect/open-session.ts";
export type { Direction, MessageWriter } from "./connect/redact-message.ts";
export type { ConversationInfo } from "./conversations/list-conversations.ts";
export { type ErrorCode, exitCodeOf, HostError } from "./errors.ts";
export {
  type CatalogCounts,
  type Failure,
  type HostEvent,
  type ListName,
  MCPDiscoveryState,
  MCPServerStatus,
  type Peer,
  type ServerChanges,
  type ServerNews,
  type ServerState,
  type ToolChanges,
} from "./events.ts";
export type { CallResult } from "./execute/executor.ts";
// The seeds' classes are in @fairlead/core/gemini. They stay importable from here for one version.
export {
  type AllowList,
  type CreateMcpClientOptions,
  createAllowList,
  createMcpClient,
  DiscoveredMCPTool,
  type DiscoveredMCPToolOptions,
  type ExecutableTool,
  getStringifiedResultForDisplay,
  MCPPermissionManager,
  McpClient,
  McpClientManager,
  type McpClientManagerOptions,
  type McpToToolOptions,
  mcpToTool,
  SecureMCPToolExecutor,
  type SecureMCPToolExecutorOptions,
  ToolRegistry,
  transformMcpContentToParts,
} from "./gemini/index.ts";
export {
  type CachedCatalogInfo,
  type CallAsModelOptions,
  type CallOptions,
  createHost,
  type DecideOptions,
  type Explanation,
  type FailedStart,
  type Host,
  type HostNote,
  type HostOptions,
  type HostPrompt,
  type HostResource,
  type HostSkill,
  type HostTool,
  type NewConversation,
  type Progress,
  type RequestOptions,
  type RunTurnOptions,
  type SearchedTool,
  type ServerFlag,
  type StartOptions,
} from "./host.ts";
export { createAnthropicModel } from "./model/anthropic/anthropic.ts";
export { type ChooseOptions, chooseModel, type ModelChoice } from "./model/choose-model.ts";
export { createGeminiModel } from "./model/gemini/gemini.ts";
export { createManualModel } from "./model/manual.ts";
export type { FinishReason, Model, ModelCall, ModelEvent, StreamOptions } from "./model/model.ts";
export { createOpenaiModel } from "./model/openai/openai.ts";
export { createScriptedModel } from "./model/scripted.ts";
export { mapNames, type NameMap } from "./model/tool-names.ts";
export type {
  McpContentBlock,
  McpMediaBlock,
  McpResourceBlock,
  McpResourceLinkBlock,
  McpTextBlock,
} from "./normalise/content/blocks.ts";
export type { CallableTool, Content, FunctionCall, FunctionDeclaration, Part } from "./normalise/model-types.ts";
export type { Repair } from "./normalise/schema/compile.ts";
export { generateValidName } from "./normalise/tool-name.ts";
export type { ConfirmPort } from "./policy/confirmation.ts";
export {
  type Confirm,
  type ConfirmationAnswer,
  type ConfirmationRule,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
} from "./policy/confirmation.ts";
export { PolicyEngine } from "./policy/policy-engine.ts";
export type { AllowedTools, Policies, PolicyFileState, PolicyFlags } from "./policy/rules/load-policies.ts";
export type { NamePattern } from "./policy/rules/name-pattern.ts";
export type {
  ApprovalMode,
  ArgsPattern,
  CheckRequest,
  Decision,
  DecisionOutcome,
  PolicyRule,
  RequestingUser,
  RequestKind,
  RuleOrigin,
  Tier,
} from "./policy/rules/rule.ts";
export type * from "./public-types.ts";
export { createRecorder, type Recorder, type RecorderOptions, type RecordTo } from "./recordings/recorder.ts";
export type { Completable, CompletionRequest } from "./resources/completion.ts";
export type { PromptContent, ReferenceProblem } from "./resources/references/references.ts";
export type { Catalog, CatalogNote, ListStep } from "./server/catalog.ts";
export type { Completion, ConnectionOptions as McpClientOptions } from "./server/connection.ts";
export { DiscoveredMCPPrompt, type DiscoveredMCPPromptOptions } from "./server/discovered-prompt.ts";
export type { Elicit, Elicitation, ElicitationAnswer } from "./server/elicitation.ts";
export type { FilteredCatalog } from "./server/filtered-catalog.ts";
export type { ConversationTools } from "./server/pinned-tools.ts";
export type { CallWatch, ToolBinding, ToolExecution, ToolExecution as ToolResult } from "./server/registered-tool.ts";
export { RegisteredTool, type RegisteredToolOptions } from "./server/registered-tool.ts";
export {
  type DiscoveredMCPResource,
  type DiscoveredMCPResourceTemplate,
  type OfferableTool,
  PromptRegistry,
  type QuarantinedTool,
  RegisteredTools,
  ResourceRegistry,
} from "./server/registries.ts";
export type { Sample, SamplingRequest, UnaskableQuestion } from "./server/requests.ts";
export type { Difference } from "./server/tool-changes.ts";
export type { Origin, Problem } from "./settings/define/definition.ts";
export { AuthProviderType } from "./settings/define/entry-authentication.ts";
export type { MCPOAuthConfig, MCPServerConfig, SettingsObject } from "./settings/define/server-config.ts";
export type { Environment } from "./settings/read/paths.ts";
export type { Flag, FlagId } from "./text/flags.ts";
export { TrustLevel } from "./trust/trusted-folders.ts";
export type {
  Conversation,
  ConversationOptions,
  ConversationTokens,
  ConversationTool,
  OfferedTool,
  SendOptions,
  TurnLimits,
} from "./turn/conversation.ts";
export type { CallEvent, CallFailure, CallStatus, DoneReason, MissingServer, TurnEvent } from "./turn/events.ts";
