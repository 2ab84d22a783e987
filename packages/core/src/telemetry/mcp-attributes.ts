/**
 * Names and attributes of spans and measurements, by OpenTelemetry's semantic conventions for MCP, and Fairlead's own below
 * `fairlead.`.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject, objectOf } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import type { Attributes } from "./telemetry.ts";

/** The histograms of the conventions, all in seconds. */
export type HistogramName =
  | "mcp.client.operation.duration"
  | "mcp.server.operation.duration"
  | "mcp.client.session.duration"
  | "mcp.server.session.duration";

/** What each histogram measures. */
export const histogramTexts: {
  readonly [Name in HistogramName]: { readonly description: string; readonly unit: "s" };
} = {
  "mcp.client.operation.duration": {
    description: "How long a request to a server takes, from sending it to its response.",
    unit: "s",
  },
  "mcp.server.operation.duration": {
    description: "How long a request of a client takes, from receiving it to its response.",
    unit: "s",
  },
  "mcp.client.session.duration": { description: "How long a connection to a server lasts.", unit: "s" },
  "mcp.server.session.duration": { description: "How long the connection of a client lasts.", unit: "s" },
};

/** The upper limits of the buckets, in seconds. */
export const durationBounds: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** The methods that the conventions list. Another one may come from a hostile client, and would be a new time series. */
const methods: ReadonlySet<string> = new Set([
  "completion/complete",
  "elicitation/create",
  "initialize",
  "logging/setLevel",
  "ping",
  "prompts/get",
  "prompts/list",
  "resources/list",
  "resources/read",
  "resources/subscribe",
  "resources/templates/list",
  "resources/unsubscribe",
  "roots/list",
  "sampling/createMessage",
  "server/discover",
  "subscriptions/listen",
  "tasks/cancel",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tasks/update",
  "tools/call",
  "tools/list",
  "skills/list",
  "skills/get",
  "resources/directory/read",
]);
const otherMethod = "_OTHER";
const longestName = 200;
const longestUri = 2000;

/** The names of a request's span and metrics: its method, and the tool or prompt that it names. */
export interface Operation {
  /** For example `tools/call greet`. Never has a URI: each would be another name. */
  readonly name: string;
  /** Attributes of the span and of the duration. */
  readonly attributes: Attributes;
  /** The URI, which only the span has. */
  readonly uri: string | undefined;
}

/** Describes a request. */
export function operationOf(method: string, params: JsonObject | undefined): Operation {
  const listed = methods.has(method) ? method : otherMethod;
  const { name, uri } = params ?? {};
  const target = typeof name === "string" ? clip(name, longestName) : undefined;
  const shown = typeof uri === "string" ? clip(uri, longestUri) : undefined;
  if (method === "tools/call" && target !== undefined)
    return {
      name: `${method} ${target}`,
      attributes: {
        "mcp.method.name": method,
        "gen_ai.tool.name": target,
        "gen_ai.operation.name": "execute_tool",
      },
      uri: undefined,
    };
  if (method === "prompts/get" && target !== undefined)
    return {
      name: `${method} ${target}`,
      attributes: { "mcp.method.name": method, "gen_ai.prompt.name": target },
      uri: undefined,
    };
  return { name: listed, attributes: { "mcp.method.name": listed }, uri: shown };
}

/** How a request failed: the attributes, and whether its span counts as failed. */
export interface OperationFailure {
  readonly attributes: Attributes;
  readonly isError: boolean;
  readonly message: string;
}

/** JSON-RPC errors that are the client's mistake. They are no errors of the server that answers them. */
const clientMistakes: ReadonlySet<number> = new Set([-32700, -32600, -32601, -32602, -32002]);

/** Whether the result of a tool call is an error that the tool itself reports. */
export function isErrorResult(result: unknown): boolean {
  return isObject(result) && result["isError"] === true;
}

/** The failure of a call whose result says `isError`. */
export const toolErrorFailure: OperationFailure = {
  attributes: { "error.type": "tool_error" },
  isError: true,
  message: "the tool reported an error",
};

/** The failure of a request that was answered with a JSON-RPC error. */
export function rpcFailure(kind: "client" | "server", code: number, message: string): OperationFailure {
  const isError = kind === "client" || !clientMistakes.has(code);
  const text = String(code);
  return {
    attributes: { "rpc.response.status_code": text, "error.type": isError ? text : undefined },
    isError,
    message: clip(message, longestUri),
  };
}

/** The failure of a request that got no response. `type` is a word such as `timeout`. */
export function otherFailure(type: string, message: string): OperationFailure {
  return { attributes: { "error.type": type }, isError: true, message: clip(message, longestUri) };
}

/** The failure of a request that this program sent, from the error of `Session.request`. */
export function sentFailure(error: unknown): OperationFailure {
  const { code, message, evidence } = objectOf(error);
  const words = typeof message === "string" ? message : String(error);
  const rpc = objectOf(objectOf(evidence)["rpc"])["code"];
  if (code === "rpc" && typeof rpc === "number") return rpcFailure("client", rpc, words);
  if (typeof code !== "string") return otherFailure("internal", words);
  return otherFailure(code === "call_timeout" ? "timeout" : code, words);
}

/** The attributes of the transport. `address` is where an HTTP server is. */
export function networkAttributes(
  transport: "stdio" | "http" | "sse" | undefined,
  address: { readonly host: string; readonly port: number } | undefined,
): Attributes {
  switch (transport) {
    case "stdio":
      return { "network.transport": "pipe" };
    case "http":
    case "sse":
      return {
        "network.transport": "tcp",
        "network.protocol.name": "http",
        "network.protocol.version": "1.1",
        "server.address": address?.host,
        "server.port": address?.port,
      };
    case undefined:
      return {};
  }
}

/** Host and port of an HTTP server. Undefined if the address is not known yet, because it has variables. */
export function addressOf(url: string): { readonly host: string; readonly port: number } | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname, port, protocol } = new URL(url);
  return { host: hostname, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}
