/** Types that other public types mention. They are exported, so that a program can name them. */

export type {
  Annotated,
  Block,
  Described,
  Era,
  JsonObject,
  ListedResource,
  ListedResourceTemplate,
  ListedTool,
  ListKind,
  McpRequestOptions,
  NegotiatedProtocol,
  NotificationListener,
  PromptResult,
  RequestHandler,
  RequestOrigin,
  RequestStop,
  ResourceContents,
  ResourceResult,
  ServerInfo,
  Session,
  ToolResult as McpToolResult,
  WireError,
  WireErrorCode,
  WireEvidence,
} from "@fairlead/wire";
export type { SignInRequest } from "./auth/auth-hook.ts";
export type { ConsentRequest } from "./auth/browser/sign-in-ui.ts";
export type { MachineStep } from "./auth/machine/machine-auth.ts";
export type { BearerChallenge } from "./auth/oauth/challenge.ts";
export type { TokenKeeper } from "./auth/oauth/token-keeper.ts";
export type { ClientAuthentication } from "./auth/store/credentials.ts";
export type { SignInNeeded, SignInTarget, UserSignIns } from "./auth/user-sign-ins.ts";
export type { TimerOptions } from "./clock.ts";
export type { ConnectObserver, ConnectStepDetails, ConnectTimeout } from "./connect/connect-step.ts";
export type { Redact } from "./connect/redact.ts";
export type { ConversationHead } from "./conversations/format.ts";
export type { ConversationSearch } from "./conversations/list-conversations.ts";
export type { HostErrorOptions } from "./errors.ts";
export type { Emitter, Listener, StateExplanation } from "./events.ts";
export type { SecretStore } from "./files/secrets/secret-port.ts";
export type {
  DeclaredCapabilities,
  GreetingHooks,
  HiddenTool,
  NamedServer,
  OpenHostOptions,
  QuestionHandler,
  ReferenceOptions,
  RequestingClient,
  SearchToolsOptions,
  ServerDescription,
  SubscribeOptions,
} from "./host/types.ts";
export type { AnthropicOptions } from "./model/anthropic/anthropic.ts";
export type { AttemptOptions } from "./model/attempts.ts";
export type { GeminiAccess, GeminiOptions } from "./model/gemini/gemini.ts";
export type { ManualLine, ManualOptions } from "./model/manual.ts";
export type { OpenaiOptions } from "./model/openai/openai.ts";
export type { Ollama } from "./model/openai/openai-models.ts";
export type { ScriptedOptions } from "./model/scripted.ts";
export type { Fetch } from "./net/bounded-fetch.ts";
export type { FetchOptions } from "./net/fetch-within.ts";
export type { ServerNetwork } from "./net/server-network.ts";
export type { ContentLimits } from "./normalise/content/fit.ts";
export type { ContentOptions, Keep, KeptFile, LeftOut } from "./normalise/content/parts.ts";
export type { ToolFilter } from "./normalise/filter.ts";
export type { FunctionResponse } from "./normalise/model-types.ts";
export type { CompiledSchema, RepairAction, SchemaDialect } from "./normalise/schema/compile.ts";
export type { ToolSchemaOptions } from "./normalise/tool-schema.ts";
export type { AnswerPlace, AskedTool } from "./policy/confirmation.ts";
export type { ToolIdentity } from "./policy/decide.ts";
export type { LoadedSkillFile, ReadSkillOptions } from "./request/skills.ts";
export type {
  CatalogPrompt,
  CatalogResource,
  CatalogResourceTemplate,
  CatalogTool,
  PromptArgument,
} from "./server/catalog.ts";
export type { CachedCatalog } from "./server/catalog-store.ts";
export type { PromptValues } from "./server/discovered-prompt.ts";
export type { Pin } from "./server/names.ts";
export type { LargeResults } from "./server/registered-tool.ts";
export type {
  Nameable,
  PromptRegistryOptions,
  RegisteredToolsOptions,
  ResourceRegistryOptions,
  ServerResources,
} from "./server/registries.ts";
export type {
  Authentication,
  ClientProfile,
  ConfiguredServer,
  DisablingOrigin,
  Gate,
  HostSettings,
  HttpTransport,
  MachineAuth,
  MachineAuthSettings,
  NameList,
  OAuthSettings,
  PublishedOrigin,
  SandboxSettings,
  Scope,
  ServerDefinition,
  ServerExtras,
  Settings,
  SettingsFile,
  SharedBy,
  StdioTransport,
  ToolBudget,
  Transport,
  VariableUse,
} from "./settings/define/definition.ts";
export type { Locations } from "./settings/read/paths.ts";
export type { VerifiedFile } from "./skills/server-skills.ts";
export type { Skill, SkillFile } from "./skills/skill.ts";
export type { Admission } from "./trust/admit.ts";
export type { AdmittedServer, Configuration } from "./trust/configuration.ts";
export type { EntryTrust } from "./trust/entry-trust.ts";
export type { TrustDecision } from "./trust/trust-decision.ts";
export type { TrustRule } from "./trust/trusted-folders.ts";
