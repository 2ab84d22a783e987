/** Reads and writes the members of JSON-RPC messages that this package itself uses: ids, `_meta` and progress. */

import type { JsonObject, Progress } from "../session.ts";
import { objectOf, stringOf } from "../shapes/json.ts";
import { clip } from "../shapes/text.ts";

/**
 * Returns the id of a request as a number, even if the server returned it as a string. Returns -1 for any other value.
 */
export function requestIdOf(id: unknown): number {
  if (typeof id === "number") return id;
  return typeof id === "string" && /^[1-9]\d{0,15}$/.test(id) ? Number(id) : -1;
}

export function requestMessage(id: number, method: string, params: JsonObject | undefined): JsonObject {
  return params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params };
}

/** Adds members to `_meta` of the parameters. An added member replaces the caller's member of the same name. */
export function withMeta(
  params: JsonObject | undefined,
  meta: JsonObject | undefined,
  progressToken: number | undefined,
): JsonObject | undefined {
  if (meta === undefined && progressToken === undefined) return params;
  const own: JsonObject =
    progressToken === undefined ? { ...meta } : meta ? { progressToken, ...meta } : { progressToken };
  // The spread of `params` comes last, because an object literal with members after a spread takes ten times longer.
  if (params === undefined || !("_meta" in params)) return { _meta: own, ...params };
  return { ...params, _meta: { ...objectOf(params["_meta"]), ...own } };
}

/**
 * Returns the `_meta` members of a forwarded request: Fairlead's members and the client's members. Leaves out members
 * of the client that are valid only on the client's own connection, such as `progressToken`.
 */
export function forwardedMeta(theirs: JsonObject | undefined, ours: JsonObject | undefined): JsonObject | undefined {
  if (theirs === undefined) return ours;
  const passedOn = Object.keys(theirs).filter(
    (key) => key !== "progressToken" && key !== "__proto__" && !key.startsWith("io.modelcontextprotocol/"),
  );
  if (passedOn.length === 0) return ours;
  return { ...Object.fromEntries(passedOn.map((key) => [key, theirs[key]])), ...ours };
}

/** Returns the progress of a notification. Returns undefined if its member `progress` is not a number. */
export function progressOf(params: JsonObject): Progress | undefined {
  const { progress, total } = params;
  const message = stringOf(params["message"]);
  if (!isNumber(progress)) return undefined;
  return { progress, ...(isNumber(total) && { total }), ...(message !== undefined && { message: clip(message) }) };
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** Whether a response has an error. Some servers send both `result` and `error`, one of them null. */
export function isErrorReply(error: unknown): boolean {
  return error !== undefined && error !== null;
}
