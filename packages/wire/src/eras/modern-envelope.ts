/** What every request of the modern era carries: who we are in `_meta`, and where it goes in its headers. */

import type { JsonObject } from "../session.ts";
import type { ConnectOptions } from "../target.ts";

/** Errors that only a server of the modern era gives. */
export const modernErrors = { headerMismatch: -32020, missingCapability: -32021, unsupportedVersion: -32022 } as const;
export const modernErrorCodes: ReadonlySet<number> = new Set(Object.values(modernErrors));

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

/** Headers that let intermediaries route a request without reading it. */
export function standardHeaders(method: string, params: JsonObject = {}): Record<string, string> {
  const member = nameMembers.get(method);
  const name = member && params[member];
  return { "mcp-method": headerValue(method), ...(typeof name === "string" && { "mcp-name": headerValue(name) }) };
}

/** The parameter that says what a request is about, by method. */
const nameMembers: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** A value as a header can carry it: as it is, or wrapped in Base64 when a header would damage it. */
export function headerValue(value: string): string {
  const plain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value);
  const looksWrapped = value.startsWith("=?base64?") && value.endsWith("?=");
  return plain && !looksWrapped ? value : `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}
