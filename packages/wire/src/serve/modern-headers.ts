/** Checks that the HTTP headers of a modern request match its body. */

import type { IncomingHttpHeaders } from "node:http";
import { modernErrors, modernVersions, standardHeaders } from "../eras/protocol.ts";
import { paramHeadersOf, paramHeaderValues } from "../http/param-headers.ts";
import type { RpcMessage } from "../rpc/channel.ts";
import type { Era, JsonObject } from "../session.ts";
import { member, objectOf, stringOf } from "../shapes/json.ts";
import { messageErrors } from "./message-errors.ts";

const versionKey = "io.modelcontextprotocol/protocolVersion";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
/** The last protocol version with sessions. */
const lastLegacy = "2025-11-25";

/** Returns the protocol version in the message's `_meta`, or undefined for a legacy message. */
export function modernVersionOf(message: RpcMessage): string | undefined {
  return stringOf(member(member(message["params"], "_meta"), versionKey));
}

/**
 * Returns the protocol era of a message. A version in `_meta` means modern. Without one, `initialize` or a session id
 * means legacy. Otherwise the headers `mcp-protocol-version` and `mcp-method` decide.
 */
export function eraOf(message: RpcMessage, headers: IncomingHttpHeaders): Era {
  if (modernVersionOf(message) !== undefined) return "modern";
  if (message["method"] === "initialize" || headers["mcp-session-id"] !== undefined) return "legacy";
  const version = stringOf(headers["mcp-protocol-version"]);
  return (version !== undefined && version > lastLegacy) || headers["mcp-method"] !== undefined ? "modern" : "legacy";
}

/** Why a modern request is refused, as the members of a JSON-RPC error. */
export interface HeaderProblem {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/**
 * Compares the headers with the body. Returns undefined if they match.
 *
 * @param schemaOf Returns the input schema of a tool, or undefined. It says which arguments must also be sent as
 * headers.
 */
export function headerProblem(
  message: RpcMessage,
  headers: IncomingHttpHeaders,
  schemaOf?: (tool: string) => unknown,
): HeaderProblem | undefined {
  const params = objectOf(message["params"]);
  const version = modernVersionOf(message);
  const sent = stringOf(headers["mcp-protocol-version"]);
  if (version === undefined || member(params["_meta"], capabilitiesKey) === undefined)
    return { code: messageErrors.invalidParams, message: `params._meta lacks ${versionKey} or ${capabilitiesKey}` };
  if (sent !== version) return mismatch("mcp-protocol-version", sent);
  if (!modernVersions.includes(version))
    return {
      code: modernErrors.unsupportedVersion,
      message: `protocol version ${version} is not supported`,
      data: { supported: modernVersions, requested: version },
    };
  const method = String(message["method"]);
  const expected = { ...standardHeaders(method, params), ...argumentHeaders(method, params, schemaOf) };
  for (const [name, value] of Object.entries(expected)) {
    const given = stringOf(headers[name]);
    if (given === undefined ? value !== undefined : value === undefined || decoded(given) !== decoded(value))
      return mismatch(name, given);
  }
  return undefined;
}

/**
 * Returns the `mcp-param-…` headers that a tool call must have. Undefined: the header must be absent, like its
 * argument.
 */
function argumentHeaders(
  method: string,
  { name, arguments: args }: JsonObject,
  schemaOf: ((tool: string) => unknown) | undefined,
): Readonly<Record<string, string | undefined>> {
  const schema = method === "tools/call" && typeof name === "string" ? schemaOf?.(name) : undefined;
  const found = paramHeadersOf(schema);
  if (!found.valid) return {};
  const absent = found.headers.map(({ header }) => [`mcp-param-${header.toLowerCase()}`, undefined]);
  return { ...Object.fromEntries(absent), ...paramHeaderValues(found.headers, args) };
}

/** Returns undefined if the value says that it is Base64, but is not. */
function decoded(value: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, "base64");
  return bytes.toString("base64") === encoded ? bytes.toString("utf8") : undefined;
}

function mismatch(name: string, sent: string | undefined): HeaderProblem {
  const problem = sent === undefined ? "is missing" : "does not match the body";
  return { code: modernErrors.headerMismatch, message: `the header ${name} ${problem}` };
}

const messageHeader = /^(?:mcp-param-.*|traceparent|tracestate)$/;

/** Returns the headers that concern a message: the `mcp-param-…` headers, which contain arguments of a tool call, and its trace context. */
export function messageHeadersIn(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const found = Object.entries(headers).filter(([name]) => messageHeader.test(name));
  return Object.fromEntries(found.map(([name, value]) => [name, String(value)]));
}
