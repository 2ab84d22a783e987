/** What the protocol fixes: versions, error codes, special methods, and what every modern request carries. */

import type { JsonObject } from "../session.ts";
import type { ConnectOptions } from "../target.ts";

/** Modern versions, newest first. Requests use the first version. */
export const modernVersions: readonly string[] = ["2026-07-28"];

/** Legacy versions, newest first. `initialize` proposes the first version. */
export const legacyVersions: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

/** Returns the first of `ours` (newest first) that the server supports, or undefined. */
export function commonVersion(ours: readonly string[], theirs: unknown): string | undefined {
  return Array.isArray(theirs) ? ours.find((version) => theirs.includes(version)) : undefined;
}

/** Methods that always get a progress token, because progress restarts their timeout. */
export const slowMethods: ReadonlySet<string> = new Set([
  "tools/call",
  "resources/read",
  "prompts/get",
  "tasks/result",
]);

/** The subscription request. It stays open until one side ends it, so it has no timeout by default. */
export const listenMethod = "subscriptions/listen";

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
  const headers: Record<string, string> = { "mcp-method": headerValue(method) };
  const name = params[nameMembers.get(method) ?? ""];
  if (typeof name === "string") headers["mcp-name"] = headerValue(name);
  return headers;
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
