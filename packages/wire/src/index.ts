/** The public names of the engine. */

export type { Annotated, Block, ResourceContents } from "./blocks.ts";
export { connect } from "./connect.ts";
export { WireError, type WireErrorCode, type WireEvidence } from "./errors.ts";
export { createProcessKeeper, type KeeperOptions, type ProcessKeeper } from "./keeper.ts";
export type {
  Described,
  Dropped,
  ListedItem,
  ListedPrompt,
  ListedResource,
  ListedResourceTemplate,
  ListedTool,
  ListKind,
} from "./listed-items.ts";
export { type Listing, type ListOptions, listAll } from "./lists.ts";
export {
  normalisePromptResult,
  normaliseResourceResult,
  normaliseToolResult,
  type PromptResult,
  type ResourceResult,
  type ToolResult,
} from "./results.ts";
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
