/** Reads a server's complete lists, page by page and within limits. */

import { WireError } from "../errors.ts";
import type { JsonObject, McpRequestOptions, Session } from "../session.ts";
import { isObject } from "./json.ts";
import { type CheckedItems, checkItems, type DroppedItem, type ListedItem, type ListKind } from "./listed-items.ts";

/** Options of `listAll`. */
export interface ListOptions extends McpRequestOptions {
  readonly maxPages?: number;
  readonly maxItems?: number;
}

/** A server's list after the check of its items. */
export interface Listing<K extends ListKind> {
  readonly items: readonly ListedItem<K>[];
  /** Items that were dropped, each with the reason. */
  readonly dropped: readonly DroppedItem[];
  /** Items that were repaired, each with the fault. */
  readonly repaired: readonly DroppedItem[];
  /** Why the list may be incomplete; absent if it is complete. */
  readonly truncated?: string;
  /** How long the list stays valid, in milliseconds: the shortest `ttlMs` of its pages. */
  readonly ttlMs?: number;
}

const methods = {
  tools: { method: "tools/list", member: "tools", capability: "tools" },
  prompts: { method: "prompts/list", member: "prompts", capability: "prompts" },
  resources: { method: "resources/list", member: "resources", capability: "resources" },
  resourceTemplates: {
    method: "resources/templates/list",
    member: "resourceTemplates",
    capability: "resources",
  },
} as const;

const methodNotFound = -32601;
const longestCursor = 64 * 1024;

/**
 * Reads all pages of a list. A server without the capability has an empty list.
 *
 * @throws WireError if the first page fails.
 */
export async function listAll<K extends ListKind>(
  session: Pick<Session, "request" | "capabilities" | "protocol">,
  kind: K,
  { maxPages = 100, maxItems = 10_000, ...options }: ListOptions = {},
): Promise<Listing<K>> {
  const { method, member, capability } = methods[kind];
  const found: CheckedItems<K> = { items: [], dropped: [], repaired: [] };
  const mirrorsHeaders =
    kind === "tools" && session.protocol?.era === "modern" && session.protocol.transport === "http";
  const seen = new Set<unknown>();
  let cursor: string | number | undefined;
  let room = maxItems;
  let ttlMs = Number.POSITIVE_INFINITY;
  const whole = (): Listing<K> => (ttlMs === Number.POSITIVE_INFINITY ? found : { ...found, ttlMs });
  const upTo = (truncated: string): Listing<K> => ({ ...whole(), truncated });

  for (let page = 1; page <= maxPages; page += 1) {
    let result: JsonObject;
    try {
      result = await session.request(method, cursor === undefined ? undefined : { cursor }, options);
    } catch (error) {
      if (!(error instanceof WireError) || error.code !== "rpc") throw error;
      if (page > 1) return upTo(`page ${page} was refused: ${error.message}`);
      // Many servers do not declare capabilities, so ask anyway and accept a refusal.
      if (error.evidence.rpc?.code === methodNotFound || !isObject(session.capabilities[capability])) return found;
      throw error;
    }
    const entries: unknown = result[member];
    const { nextCursor } = result;
    if (typeof result["ttlMs"] === "number") ttlMs = Math.min(ttlMs, Math.max(result["ttlMs"], 0));
    if (!Array.isArray(entries)) {
      found.dropped.push({ reason: `page ${page} has no list of ${member}` });
    } else {
      checkItems(kind, entries.slice(0, room), found, mirrorsHeaders);
      if (entries.length > room) return upTo(`more than ${maxItems} entries`);
      room -= entries.length;
    }
    if (nextCursor === undefined || nextCursor === null || nextCursor === "") return whole();
    if (typeof nextCursor !== "string" && typeof nextCursor !== "number")
      return upTo("nextCursor is neither a string nor a number");
    if (seen.has(nextCursor)) return upTo("nextCursor repeats an earlier page");
    if (String(nextCursor).length > longestCursor) return upTo("nextCursor is too long");
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return upTo(`more than ${maxPages} pages`);
}
