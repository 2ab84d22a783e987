/** Adapts a server's result to the protocol era of the client. Pure. */

import type { Era, JsonObject } from "@fairlead/wire";
import { isObject, objectOf } from "@fairlead/wire/json";

const protocolPrefix = "io.modelcontextprotocol/";
/** Methods whose results say how long they may be cached, in the modern era. */
const cacheable: ReadonlySet<string> = new Set(["resources/read"]);

/** The result as a client of this era expects it; members that neither era knows stay. */
export function adaptResult(method: string, result: JsonObject, era: Era): JsonObject {
  return era === "modern" ? toModern(method, result) : toLegacy(result);
}

function toModern(method: string, result: JsonObject): JsonObject {
  if (typeof result["resultType"] === "string") return result;
  return { resultType: "complete", ...(cacheable.has(method) && uncached), ...result };
}

/** A list or a discovery of the gateway: policy makes it differ between clients, so it is never public. */
export const uncached: JsonObject = { ttlMs: 0, cacheScope: "private" };

function toLegacy(result: JsonObject): JsonObject {
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...rest } = result;
  const { _meta, structuredContent, ...others } = rest;
  const meta = Object.entries(objectOf(_meta)).filter(([key]) => !key.startsWith(protocolPrefix));
  return {
    ...others,
    ...(meta.length > 0 && { _meta: Object.fromEntries(meta) }),
    // Before 2026-07-28 structured content is an object; the text beside it says the same.
    ...(isObject(structuredContent) && { structuredContent }),
  };
}
