/** Adapts a server's result to the client's protocol era. Pure functions. */

import type { Era, JsonObject } from "@fairlead/wire";
import { isObject, objectOf } from "@fairlead/wire/json";

const protocolPrefix = "io.modelcontextprotocol/";
/** Methods whose results have cache hints in the modern protocol era. */
const cacheable: ReadonlySet<string> = new Set(["resources/read"]);

/** Returns the result in the form of the client's protocol era. Members that neither era defines stay unchanged. */
export function adaptResult(method: string, result: JsonObject, era: Era): JsonObject {
  return era === "modern" ? toModern(method, result) : toLegacy(result);
}

function toModern(method: string, result: JsonObject): JsonObject {
  if (typeof result["resultType"] === "string") return result;
  return { resultType: "complete", ...(cacheable.has(method) && uncached), ...result };
}

/**
 * Marks the gateway's lists and discovery results as private to one client, because rules can make them differ between
 * clients.
 */
export const uncached: JsonObject = { ttlMs: 0, cacheScope: "private" };

/** Members of a result that differ, or may differ, between the protocol eras. */
const eraMembers = ["resultType", "ttlMs", "cacheScope", "_meta", "structuredContent"];

function toLegacy(result: JsonObject): JsonObject {
  // Most results have no member of `eraMembers`, so the result can be returned without a copy.
  if (!eraMembers.some((name) => name in result)) return result;
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...rest } = result;
  const { _meta, structuredContent, ...others } = rest;
  const meta = Object.entries(objectOf(_meta)).filter(([key]) => !key.startsWith(protocolPrefix));
  return {
    ...others,
    ...(meta.length > 0 && { _meta: Object.fromEntries(meta) }),
    // Before 2026-07-28, structured content must be an object. A value that is not an object is dropped. The text
    // content repeats such a value.
    ...(isObject(structuredContent) && { structuredContent }),
  };
}
