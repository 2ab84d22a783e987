/** Reads and writes the members of JSON-RPC messages that this package itself uses: ids, `_meta` and progress. */

import type { JsonObject, Progress } from "../session.ts";
import { objectOf, stringOf } from "../shapes/json.ts";
import { clip } from "../shapes/text.ts";

/** Returns a request's id as a number, because some servers return it as a string. -1 for any other value. */
export function requestIdOf(id: unknown): number {
  if (typeof id === "number") return id;
  return typeof id === "string" && /^[1-9]\d{0,15}$/.test(id) ? Number(id) : -1;
}

/** Returns a JSON-RPC request. Leaves out `params` if they are undefined. */
export function requestMessage(id: number, method: string, params: JsonObject | undefined): JsonObject {
  return params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params };
}

/** Returns the parameters with members added to `_meta`. An added member replaces the caller's member of that name. */
export function withMeta(
  params: JsonObject | undefined,
  meta: JsonObject | undefined,
  progressToken: number | undefined,
): JsonObject | undefined {
  if (meta === undefined && progressToken === undefined) return params;
  const own: JsonObject =
    progressToken === undefined ? { ...meta } : meta ? { progressToken, ...meta } : { progressToken };
  // `...params` is last, because members after a spread make creating the object ten times slower.
  if (params === undefined || !("_meta" in params)) return { _meta: own, ...params };
  return { ...params, _meta: { ...objectOf(params["_meta"]), ...own } };
}

/**
 * Returns `_meta` for a request that Fairlead forwards: the client's members, then Fairlead's. Leaves out what is valid
 * only on the client's connection (for example `progressToken`).
 */
export function forwardedMeta(theirs: JsonObject | undefined, ours: JsonObject | undefined): JsonObject | undefined {
  if (theirs === undefined) return ours;
  const passedOn = Object.keys(theirs).filter(
    (key) => key !== "progressToken" && key !== "__proto__" && !key.startsWith("io.modelcontextprotocol/"),
  );
  if (passedOn.length === 0) return ours;
  return { ...Object.fromEntries(passedOn.map((key) => [key, theirs[key]])), ...ours };
}

/** Returns the progress in a notification, or undefined if its `progress` is not a number. */
export function progressOf(params: JsonObject): Progress | undefined {
  const { progress, total } = params;
  const message = stringOf(params["message"]);
  if (!isNumber(progress)) return undefined;
  return {
    progress,
    total: isNumber(total) ? total : undefined,
    message: message === undefined ? undefined : clip(message),
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** Whether a response is an error. `error: null` is none, because some servers send it beside `result`. */
export function isErrorReply(error: unknown): boolean {
  return error !== undefined && error !== null;
}
