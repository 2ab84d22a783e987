/**
 * The names of OpenTelemetry's conventions for MCP (semantic-conventions-genai, `model/mcp`, as of September 2026): the
 * attributes of spans of each kind, and of each metric.
 */

const common = [
  "mcp.method.name",
  "mcp.protocol.version",
  "gen_ai.tool.name",
  "gen_ai.operation.name",
  "gen_ai.prompt.name",
  "error.type",
  "rpc.response.status_code",
  "network.transport",
  "network.protocol.name",
  "network.protocol.version",
  "jsonrpc.protocol.version",
];

const ofSpans = [
  ...common,
  "mcp.session.id",
  "mcp.resource.uri",
  "jsonrpc.request.id",
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.call.result",
  "gen_ai.prompt.variable",
];
const ofAddress = ["server.address", "server.port"];

export const spanNames: Readonly<Record<"client" | "server", readonly string[]>> = {
  client: [...ofSpans, ...ofAddress],
  server: [...ofSpans, "client.address", "client.port"],
};

// The conventions list no transport for sessions; without it, one could not tell programs from HTTP servers.
const ofSessions = [
  "mcp.protocol.version",
  "network.protocol.name",
  "network.protocol.version",
  "network.transport",
  "jsonrpc.protocol.version",
  "error.type",
];

export const metricNames: Readonly<Record<string, readonly string[]>> = {
  "mcp.client.operation.duration": [...common, ...ofAddress],
  "mcp.server.operation.duration": common,
  "mcp.client.session.duration": [...ofSessions, ...ofAddress],
  "mcp.server.session.duration": ofSessions,
};
