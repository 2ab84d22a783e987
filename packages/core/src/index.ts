/** The library's public names, one by one. */

export type { Clock } from "./clock.ts";
export type { ConnectStep } from "./connect/connect-step.ts";
export type { OpenedSession, OpenOptions } from "./connect/open-session.ts";
export type { Catalog, CatalogNote, ListStep } from "./discover/catalog.ts";
export { type ErrorCode, HostError } from "./errors.ts";
export {
  type Failure,
  type HostEvent,
  MCPDiscoveryState,
  MCPServerStatus,
  type Offer,
  type Peer,
  type ServerState,
} from "./events.ts";
export type { CallResult } from "./execute/call-tool.ts";
export {
  type CallOptions,
  createHost,
  type Host,
  type HostOptions,
  type HostPrompt,
  type HostResource,
  type HostTool,
  type Progress,
  type StartOptions,
} from "./host.ts";
export { type Completion, McpClient, type McpClientOptions } from "./mcp/client.ts";
export { type ManagedServer, McpClientManager, type McpClientManagerOptions } from "./mcp/client-manager.ts";
export type { Offering } from "./mcp/offering.ts";
export type { Environment } from "./settings/paths.ts";
export { TrustLevel } from "./trust/trusted-folders.ts";
