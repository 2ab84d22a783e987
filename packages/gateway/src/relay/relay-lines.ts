/**
 * The messages that a relay itself sends to the client: errors for lost requests, cancellations of the host's requests,
 * and notifications of changed lists.
 */

import { isObject, listOf, parseJson } from "@fairlead/wire/json";
import type { UnansweredRequest } from "./open-requests.ts";

const internalError = -32603;

/**
 * Returns an error response.
 * @param id The request id as JSON text.
 */
export function errorLine(id: string, message: string, data: Readonly<Record<string, unknown>>): string {
  const error = JSON.stringify({ code: internalError, message, data });
  return `{"jsonrpc":"2.0","id":${id},"error":${error}}\n`;
}

/**
 * Returns the error that the relay sends to the host if the client can no longer answer the host's request.
 * @param id The id of the host's request, as JSON text.
 */
export function unansweredLine(id: string): string {
  return errorLine(id, "the client has closed stdin and cannot answer", { reason: "unreachable" });
}

/** Returns the error response for a request that was lost with its host and is not sent again. */
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
 * Returns the notification that cancels a request of the host.
 * @param id The id of the request, as JSON text.
 */
export function cancelledLine(id: string): string {
  const requestId: unknown = JSON.parse(id);
  return notification("notifications/cancelled", { requestId, reason: "the gateway was restarted" });
}

export function listChangedLine(list: string): string {
  return notification(`notifications/${list}/list_changed`);
}

function notification(method: string, params?: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", method, ...(params && { params }) })}\n`;
}

/**
 * Maximum number of messages that are read from one JSON-RPC batch. The protocol has had no batches since 2025-06-18.
 */
const batchLimit = 100;

/** Returns the messages of a batch, each as a line. Returns an empty list if `line` is not a JSON list. */
export function ofBatch(line: Buffer): readonly Buffer[] {
  // A list inside the batch is dropped, because it would be read as another batch.
  return listOf(parseJson(line.toString("utf8")))
    .slice(0, batchLimit)
    .filter(isObject)
    .map((value) => Buffer.from(`${JSON.stringify(value)}\n`));
}
