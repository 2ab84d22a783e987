/** JSON-RPC errors that a server's transport answers by itself, before any handler sees the message. */

import { modernErrors } from "../eras/modern-envelope.ts";
import type { RequestId, RpcMessage } from "../rpc/channel.ts";

/** JSON-RPC error codes of messages that cannot be handled. */
export const messageErrors = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  /** Codes of the server's own choice, as the reference servers use them. */
  noSession: -32000,
  unknownSession: -32001,
} as const;

/** An error response; the id is null if the message's id is not known. */
export function errorResponse(id: RequestId | null, code: number, message: string, data?: unknown): RpcMessage {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } };
}

const statuses: ReadonlyMap<unknown, number> = new Map([
  [messageErrors.methodNotFound, 404],
  ...Object.values(modernErrors).map((code) => [code, 400] as const),
]);

/** The HTTP status of a response in the modern era, which repeats some error codes as a status. */
export function modernStatus({ error }: RpcMessage): number {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return statuses.get(code) ?? 200;
}
