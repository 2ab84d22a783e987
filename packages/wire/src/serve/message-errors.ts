/** JSON-RPC errors for messages that are refused before a handler sees them. */

import { modernErrors } from "../eras/protocol.ts";
import type { RequestId, RpcMessage } from "../rpc/channel.ts";

/** JSON-RPC error codes for refused messages. */
export const messageErrors = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** This code and the next are the codes of the MCP reference servers. */
  noSession: -32000,
  unknownSession: -32001,
} as const;

/** Creates an error response. Pass null as `id` if the message has no readable id. */
export function errorResponse(id: RequestId | null, code: number, message: string, data?: unknown): RpcMessage {
  return { jsonrpc: "2.0", id, error: { code, message, data } };
}

const statuses: ReadonlyMap<unknown, number> = new Map([
  [messageErrors.methodNotFound, 404],
  ...Object.values(modernErrors).map((code) => [code, 400] as const),
]);

/** Returns the HTTP status for a response to a modern request: 400 or 404 for some error codes, otherwise 200. */
export function modernStatus({ error }: RpcMessage): number {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return statuses.get(code) ?? 200;
}
