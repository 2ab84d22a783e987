/** The few members of JSON-RPC messages that the engine itself writes and reads. */

import type { JsonObject, Progress } from "../session.ts";
import { objectOf, stringOf } from "../shapes/json.ts";
import { clip } from "../shapes/text.ts";

/** One of our ids, also when the server made a string of it; -1 if it cannot be one. */
export function requestIdOf(id: unknown): number {
  if (typeof id === "number") return id;
  return typeof id === "string" && /^[1-9]\d{0,15}$/.test(id) ? Number(id) : -1;
}

/** Parameters with more in their `_meta`; the caller's own keys stay. */
export function withMeta(
  params: JsonObject | undefined,
  meta: JsonObject | undefined,
  progressToken: number | undefined,
): JsonObject | undefined {
  if (meta === undefined && progressToken === undefined) return params;
  const own = progressToken === undefined ? { ...meta } : { progressToken, ...meta };
  // The usual case, and the fast one: members that follow a spread cost ten times as much.
  if (params === undefined || !("_meta" in params)) return { _meta: own, ...params };
  return { ...params, _meta: { ...objectOf(params["_meta"]), ...own } };
}

/** Progress worth telling: at least a number. */
export function progressOf(params: JsonObject): Progress | undefined {
  const { progress, total } = params;
  const message = stringOf(params["message"]);
  if (!isNumber(progress)) return undefined;
  return { progress, ...(isNumber(total) && { total }), ...(message !== undefined && { message: clip(message) }) };
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
