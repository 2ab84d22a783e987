/** The `_meta` members and HTTP headers of every modern request. */

import type { JsonObject } from "../session.ts";
import type { ConnectOptions } from "../target.ts";

/** JSON-RPC error codes that only the modern protocol era defines. */
export const modernErrors = { headerMismatch: -32020, missingCapability: -32021, unsupportedVersion: -32022 } as const;
/** The numbers in `modernErrors`. A server that answers with one of them supports the modern protocol era. */
export const modernErrorCodes: ReadonlySet<number> = new Set(Object.values(modernErrors));

/** Returns the `_meta` members of a request: protocol version, client capabilities and client info. */
export function envelope(
  version: string,
  { clientInfo, capabilities }: Pick<ConnectOptions, "clientInfo" | "capabilities">,
): JsonObject {
  return {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": capabilities ?? {},
    "io.modelcontextprotocol/clientInfo": clientInfo,
  };
}

/** Returns the headers that let proxies route a request without reading its body. */
export function standardHeaders(method: string, params: JsonObject = {}): Record<string, string> {
  const member = nameMembers.get(method);
  const name = member && params[member];
  return { "mcp-method": headerValue(method), ...(typeof name === "string" && { "mcp-name": headerValue(name) }) };
}

/** For each method, the name of the parameter whose value is sent as the header `Mcp-Name`. */
const nameMembers: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** Returns a value for a header: unchanged, or in Base64 if it has characters that a header cannot contain. */
export function headerValue(value: string): string {
  const plain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value);
  const looksWrapped = value.startsWith("=?base64?") && value.endsWith("?=");
  return plain && !looksWrapped ? value : `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}
