/** The public names of the engine. */

export { connect } from "./connect.ts";
export { WireError, type WireErrorCode, type WireEvidence } from "./errors.ts";
export type {
  Era,
  JsonObject,
  NotificationListener,
  Progress,
  RequestHandler,
  RequestOptions,
  ServerInfo,
  Session,
} from "./session.ts";
export type { Annotated, Block, ResourceContents } from "./shapes/blocks.ts";
export type {
  Described,
  Dropped,
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
export { createProcessKeeper, type KeeperOptions, type ProcessKeeper } from "./stdio/process-registry.ts";
export type {
  AuthHook,
  Challenge,
  ConnectOptions,
  HttpTarget,
  StdioTarget,
  Target,
  Verdict,
  WireLimits,
  WireTimes,
} from "./target.ts";
