/** The library's public names, one by one. */

export type { Clock } from "./clock.ts";
export { type ErrorCode, HostError } from "./errors.ts";
export { type HostEvent, MCPDiscoveryState, MCPServerStatus, type ServerState } from "./events.ts";
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
} from "./host.ts";
export type { Environment } from "./settings/paths.ts";
export { TrustLevel } from "./trust/trusted-folders.ts";
