/** The JSON-RPC errors that the gateway returns to its clients. */

import { HostError } from "@fairlead/core/errors";
import { WireError } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";

/** Error codes of JSON-RPC, of MCP and of the gateway. */
export const rpcCodes = {
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** "Resource not found" up to version 2025-11-25. Later versions use `invalidParams`. */
  resourceNotFound: -32002,
  /** The client lacks a capability that the request needs. Only the modern protocol has this code. */
  missingCapability: -32021,
  /** The gateway's own code: a rule denies the request, or a person must approve it first. */
  refused: -32010,
} as const;

/** Creates an error that the client receives as a JSON-RPC error. */
export function rpcError(code: number, message: string, data?: unknown): WireError {
  return new WireError("rpc", message, { rpc: { code, data } });
}

/**
 * Returns the JSON-RPC error of a server or of the gateway, if it is `error` or its cause. Otherwise returns undefined.
 * The cause of a `changed` error is the server's reply to another request: its changed list could not be read.
 */
export function serverReply(error: unknown): WireError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof HostError && cause.code === "changed") return undefined;
    if (cause instanceof WireError && cause.evidence.rpc !== undefined) return cause;
  }
  return undefined;
}

/** Converts any error to a JSON-RPC error for the client. A server's own JSON-RPC error stays unchanged. */
export function toRpcError(error: unknown): WireError {
  const reply = serverReply(error);
  if (reply !== undefined) return reply;
  if (!(error instanceof HostError)) return rpcError(rpcCodes.internal, errorMessage(error));
  const { code, message, next, serverName, retryAfter } = error;
  const data = {
    reason: code,
    server: serverName,
    next,
    retryAfterMs: retryAfter,
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
