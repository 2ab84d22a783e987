/** Whole lists of what a server offers: every page, within bounds, keeping what is usable and naming what is not. */

import { WireError } from "../errors.ts";
import type { JsonObject, McpRequestOptions, Session } from "../session.ts";
import { isObject } from "./json.ts";
import { type CheckedItems, checkItems, type DroppedItem, type ListedItem, type ListKind } from "./listed-items.ts";

export interface ListOptions extends McpRequestOptions {
  readonly maxPages?: number;
  readonly maxItems?: number;
}

export interface Listing<K extends ListKind> {
  readonly items: readonly ListedItem<K>[];
  /** Entries that were left out, each with its reason. */
  readonly dropped: readonly DroppedItem[];
  /** Entries that were repaired, each with what was wrong. */
  readonly repaired: readonly DroppedItem[];
  /** Why the list may be incomplete, if it may. */
  readonly truncated?: string;
  /** How long the server vouches for the list, in milliseconds, if it says so: the shortest of its pages. */
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
      // Capabilities are often not declared; a server without them says no in one way or another.
      if (error.evidence.rpc?.code === methodNotFound || !isObject(session.capabilities[capability])) return found;
      throw error;
    }
    const entries: unknown = result[member];
    const { nextCursor } = result;
    if (typeof result["ttlMs"] === "number") ttlMs = Math.min(ttlMs, Math.max(result["ttlMs"], 0));
    if (!Array.isArray(entries)) {
      found.dropped.push({ reason: `page ${page} holds no list of ${member}` });
    } else {
      checkItems(kind, entries.slice(0, room), found, mirrorsHeaders);
      if (entries.length > room) return upTo(`more than ${maxItems} entries`);
      room -= entries.length;
    }
    if (nextCursor === undefined || nextCursor === null || nextCursor === "") return whole();
    if (typeof nextCursor !== "string" && typeof nextCursor !== "number")
      return upTo("the next page has no usable name");
    if (seen.has(nextCursor)) return upTo("the server names the same page again");
    if (String(nextCursor).length > longestCursor) return upTo("the name of the next page is too long");
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return upTo(`more than ${maxPages} pages`);
}
