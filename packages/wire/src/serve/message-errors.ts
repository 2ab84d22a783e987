/** The JSON-RPC errors that the server's transport sends for a message that it does not pass to a handler. */

import { modernErrors } from "../eras/modern-envelope.ts";
import type { RequestId, RpcMessage } from "../rpc/channel.ts";

/** JSON-RPC error codes for messages that cannot be handled. */
export const messageErrors = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** The MCP reference servers use the same codes. */
  noSession: -32000,
  unknownSession: -32001,
} as const;

/** Creates an error response. The id is null if the message's id is unknown. */
export function errorResponse(id: RequestId | null, code: number, message: string, data?: unknown): RpcMessage {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } };
}

const statuses: ReadonlyMap<unknown, number> = new Map([
  [messageErrors.methodNotFound, 404],
  ...Object.values(modernErrors).map((code) => [code, 400] as const),
]);

/** Returns the HTTP status for a response of the protocol version 2026-07-28. Some error codes have their own status. */
export function modernStatus({ error }: RpcMessage): number {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return statuses.get(code) ?? 200;
}
