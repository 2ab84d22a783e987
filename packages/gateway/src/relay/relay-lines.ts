/** The messages that a relay writes itself: errors for lost requests, cancellations and notifications. */

import { isObject, listOf, parseJson } from "@fairlead/wire/json";
import type { UnansweredRequest } from "./open-requests.ts";

const internalError = -32603;

/**
 * Returns a JSON-RPC error response.
 * @param id The request id as JSON text.
 */
export function errorLine(id: string, message: string, data: Readonly<Record<string, unknown>>): string {
  const error = JSON.stringify({ code: internalError, message, data });
  return `{"jsonrpc":"2.0","id":${id},"error":${error}}\n`;
}

/**
 * Returns the error for the host if the client can no longer answer its request.
 * @param id The id of the host's request, as JSON text.
 */
export function unansweredLine(id: string): string {
  return errorLine(id, "the client has closed stdin and cannot answer", { reason: "unreachable" });
}

/** Returns the error for the client if a request was lost with its host and is not repeated. */
export function lostLine({ id, sent, losses }: UnansweredRequest): string {
  if (sent !== undefined)
    return errorLine(id, `the gateway was restarted; ${sent} may have run`, { reason: "lost", subject: sent });
  return errorLine(
    id,
    `the gateway stopped ${losses} times while it handled this request; no server received the request`,
    { reason: "unreachable", next: "fairlead daemon logs" },
  );
}

/**
 * Returns the notification that tells the client not to answer the host's request any more.
 * @param id The id of the request, as JSON text.
 */
export function cancelledLine(id: string): string {
  const requestId: unknown = JSON.parse(id);
  return notification("notifications/cancelled", { requestId, reason: "the gateway was restarted" });
}

/** Returns the `list_changed` notification for a list such as `tools`. */
export function listChangedLine(list: string): string {
  return notification(`notifications/${list}/list_changed`);
}

function notification(method: string, params?: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`;
}

/** Maximum number of messages in a JSON-RPC batch. MCP has had no batches since version 2025-06-18. */
const batchLimit = 100;

/** Returns the messages of a batch, each as a line. Returns an empty list if `line` is no batch. */
export function ofBatch(line: Buffer): readonly Buffer[] {
  // Drops a list inside the batch, because it would be read as another batch.
  return listOf(parseJson(line.toString("utf8")))
    .slice(0, batchLimit)
    .filter(isObject)
    .map((value) => Buffer.from(`${JSON.stringify(value)}\n`));
}
