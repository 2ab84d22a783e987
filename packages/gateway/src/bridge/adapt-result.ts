/** Converts a server's result for a client that uses another protocol era. Pure functions. */

import type { Era, JsonObject } from "@fairlead/wire";
import { isObject, objectOf } from "@fairlead/wire/json";

const protocolPrefix = "io.modelcontextprotocol/";
/** Forwarded methods whose modern results have `ttlMs` and `cacheScope`. */
const cacheable: ReadonlySet<string> = new Set(["resources/read", "skills/get", "resources/directory/read"]);

/** Converts the result to the client's protocol era. Members that MCP does not define stay unchanged. */
export function adaptResult(method: string, result: JsonObject, era: Era): JsonObject {
  return era === "modern" ? toModern(method, result) : toLegacy(result);
}

/** Returns the result of a tool call that did not run. A model reads it, while many clients hide protocol errors from it. */
export function toolError(text: string, era: Era): JsonObject {
  return adaptResult("tools/call", { content: [{ type: "text", text }], isError: true }, era);
}

function toModern(method: string, result: JsonObject): JsonObject {
  if (typeof result["resultType"] === "string") return result;
  return { resultType: "complete", ...(cacheable.has(method) && uncached), ...result };
}

/** Tells a client not to cache a result. Each client may get another result, because rules can depend on the client. */
export const uncached: JsonObject = { ttlMs: 0, cacheScope: "private" };

const eraMembers = ["resultType", "ttlMs", "cacheScope", "_meta", "structuredContent"];

function toLegacy(result: JsonObject): JsonObject {
  // Most results have none of these members, so they need no copy.
  if (!eraMembers.some((name) => name in result)) return result;
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...rest } = result;
  const { _meta, structuredContent, ...others } = rest;
  const meta = Object.entries(objectOf(_meta)).filter(([key]) => !key.startsWith(protocolPrefix));
  return {
    ...others,
    _meta: meta.length > 0 ? Object.fromEntries(meta) : undefined,
    // Before version 2026-07-28, structured content must be an object. Other values should also be in the text content.
    structuredContent: isObject(structuredContent) ? structuredContent : undefined,
  };
}
