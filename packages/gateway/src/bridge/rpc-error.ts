/** The JSON-RPC errors that the gateway returns to its clients. */

import { HostError } from "@fairlead/core/errors";
import { WireError } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";

/** Error codes of JSON-RPC and of MCP. */
export const rpcCodes = {
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** The error code for "resource not found" in versions up to 2025-11-25. Later versions use `invalidParams`. */
  resourceNotFound: -32002,
  /** The client does not declare a capability that the request needs. Only the modern protocol era has this code. */
  missingCapability: -32021,
  /** The gateway's own error code: a rule denied the request, or the request needs a person's approval. */
  refused: -32010,
} as const;

/** An error that the client receives as a JSON-RPC error. */
export function rpcError(code: number, message: string, data?: unknown): WireError {
  return new WireError("rpc", message, { rpc: { code, ...(data !== undefined && { data }) } });
}

/** Returns the JSON-RPC error that a server sent. Undefined if the server sent no such error. */
export function serverReply(error: unknown): WireError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof WireError && cause.evidence.rpc !== undefined) return cause;
  return undefined;
}

/**
 * Returns the error for the client. A JSON-RPC error of the server stays unchanged. Any other error becomes a JSON-RPC
 * error with its reason.
 */
export function toRpcError(error: unknown): WireError {
  const reply = serverReply(error);
  if (reply !== undefined) return reply;
  if (!(error instanceof HostError)) return rpcError(rpcCodes.internal, errorMessage(error));
  const { code, message, next, serverName } = error;
  const data = {
    reason: code,
    ...(serverName !== undefined && { server: serverName }),
    ...(next !== undefined && { next }),
  };
  return rpcError(codes.get(code) ?? rpcCodes.internal, message, data);
}

const codes: ReadonlyMap<string, number> = new Map([
  ["tool_unknown", rpcCodes.invalidParams],
  ["server_unknown", rpcCodes.invalidParams],
  ["arguments_invalid", rpcCodes.invalidParams],
  ["usage", rpcCodes.invalidParams],
  ["denied", rpcCodes.refused],
  ["changed", rpcCodes.refused],
  ["awaiting_approval", rpcCodes.refused],
  ["untrusted_folder", rpcCodes.refused],
]);
