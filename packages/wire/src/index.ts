/** The public names of `@fairlead/wire`: connect to an MCP server, read its lists and its results. */

export { connect } from "./connect.ts";
export { WireError, type WireErrorCode, type WireEvidence } from "./errors.ts";
export { type HeldMessage, LargeMessages, type LargeMessagesOptions } from "./rpc/large-messages.ts";
export { PausableTime, type TimeSource } from "./rpc/time.ts";
export type {
  Era,
  JsonObject,
  McpRequestOptions,
  NegotiatedProtocol,
  NotificationListener,
  Progress,
  RequestHandler,
  RequestOrigin,
  RequestStop,
  ServerInfo,
  Session,
} from "./session.ts";
export type { Annotated, Block, ResourceContents } from "./shapes/blocks.ts";
export type {
  Described,
  DroppedItem,
  ListedItem,
  ListedPrompt,
  ListedResource,
  ListedResourceTemplate,
  ListedTool,
  ListKind,
} from "./shapes/listed-items.ts";
export { type Listing, type ListOptions, listAll } from "./shapes/lists.ts";
export {
  normalisePromptResult,
  normaliseResourceResult,
  normaliseToolResult,
  type PromptResult,
  type ResourceResult,
  type ToolResult,
} from "./shapes/results.ts";
export {
  createProcessRegistry,
  type ProcessRegistry,
  type ProcessRegistryOptions,
} from "./stdio/process-registry.ts";
export type {
  AuthHook,
  Challenge,
  ConnectOptions,
  HttpTarget,
  StdioTarget,
  Target,
  WireLimits,
  WireTimes,
} from "./target.ts";
