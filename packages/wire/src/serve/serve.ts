/**
 * The public names of `@fairlead/wire/serve`: act as an MCP server, or relay messages between a client and a server.
 */

export { legacyVersions, modernVersions } from "../eras/protocol.ts";
export type { Channel, ChannelEvents, OpenChannel, RequestId, RpcMessage } from "../rpc/channel.ts";
export { openRpc, type Rpc, type RpcOptions } from "../rpc/rpc.ts";
export { defaultLimits, defaultTimes } from "../target.ts";
export type { HttpAdmission, HttpAdmitted, HttpEntry, HttpRefusal } from "./http-admission.ts";
export type { HttpLimits, HttpTimes } from "./http-limits.ts";
export {
  type HttpListener,
  type HttpListenerOptions,
  type HttpNames,
  type HttpPage,
  listenHttp,
  readBody,
} from "./http-listener.ts";
export { type HttpSessions, sessionMethods } from "./http-sessions.ts";
export { createModernClients, type ModernClients } from "./modern-clients.ts";
export {
  type ClientRequestOptions,
  type ServedClient,
  type ServedRequest,
  type ServedSession,
  type ServeOptions,
  serveClient,
} from "./served-session.ts";
export { openServerRelay, type ServerRelay, type ServerRelayOptions } from "./server-relay.ts";
export { type ClientStdioOptions, type ClientStreams, openClientStdio } from "./stdio-client.ts";
export {
  createUnusedConnections,
  type UnusedConnections,
  type UnusedConnectionsOptions,
} from "./unused-connections.ts";
