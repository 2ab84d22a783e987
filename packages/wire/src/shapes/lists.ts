/** Reads a server's complete lists, page by page and within limits. */

import { WireError } from "../errors.ts";
import { fixedLimits } from "../limits.ts";
import type { JsonObject, McpRequestOptions, Session } from "../session.ts";
import { isObject } from "./json.ts";
import {
  type CheckedItems,
  checkItems,
  type DroppedItem,
  type ListedItem,
  type ListKind,
  nameOf,
} from "./listed-items.ts";
import { immediateTurn } from "./sliced-json.ts";

/** Options of `listAll`. */
export interface ListOptions extends McpRequestOptions {
  readonly maxPages?: number;
  readonly maxItems?: number;
  /** Maximum size of a page, in bytes. Default: `WireLimits.messageBytes`. */
  readonly maxPageBytes?: number;
  /** A limit that several lists share. Reading a list subtracts its size from `bytes`. Default: no limit. */
  readonly room?: { bytes: number };
}

/** A server's list. Its items have been checked. */
export interface Listing<K extends ListKind> {
  readonly items: readonly ListedItem<K>[];
  /** Items that were dropped, each with a reason. */
  readonly dropped: readonly DroppedItem[];
  /** Items that were repaired, each with its mistake. */
  readonly repaired: readonly DroppedItem[];
  /** Why the list may be incomplete. Absent if it is complete. */
  readonly truncated?: string;
  /**
   * The size of the list in bytes, as text or in memory, whichever is larger. Only set if the options limit the bytes.
   */
  readonly bytes?: number;
  /**
   * The size limit that ended the list. `page`: a page is larger than `maxPageBytes`. `memory`: a page needs too much
   * memory. `room`: all lists together are larger than their shared limit. Absent if no size limit ended the list.
   */
  readonly cutBy?: "page" | "memory" | "room";
  /** The list is valid for this many milliseconds: the shortest `ttlMs` of its pages. */
  readonly ttlMs?: number;
}

const methods = {
  tools: { method: "tools/list", member: "tools", capability: "tools" },
  prompts: { method: "prompts/list", member: "prompts", capability: "prompts" },
  resources: { method: "resources/list", member: "resources", capability: "resources" },
  resourceTemplates: { method: "resources/templates/list", member: "resourceTemplates", capability: "resources" },
  skills: { method: "skills/list", member: "skills", capability: "resources" },
} as const;

const methodNotFound = -32601;
/** For a smaller list (in bytes), the memory is not estimated. */
const weighedFrom = 1024 * 1024;

/**
 * Reads all pages of a list. If the server does not support this kind of list, the result is empty.
 *
 * @throws WireError if the first page fails, or if a later page fails without a JSON-RPC error.
 */
export async function listAll<K extends ListKind>(
  session: Pick<Session, "request" | "capabilities" | "protocol">,
  kind: K,
  given: ListOptions = {},
): Promise<Listing<K>> {
  const {
    maxPages = fixedLimits.pages,
    maxItems = fixedLimits.items,
    maxPageBytes = Number.POSITIVE_INFINITY,
    ...others
  } = given;
  const { room: bytesLeft = { bytes: Number.POSITIVE_INFINITY }, ...options } = others;
  const { method, member, capability } = methods[kind];
  const found: CheckedItems<K> = { items: [], dropped: [], repaired: [] };
  const mirrorsHeaders =
    kind === "tools" && session.protocol?.era === "modern" && session.protocol.transport === "http";
  const seen = new Set<unknown>();
  let cursor: string | number | undefined;
  let room = maxItems;
  let ttlMs = Number.POSITIVE_INFINITY;
  let bytes: number | undefined;
  const whole = (): Listing<K> => ({ ...found, ttlMs: Number.isFinite(ttlMs) ? ttlMs : undefined, bytes });
  const upTo = (truncated: string): Listing<K> => ({ ...whole(), truncated });
  const cut = (page: number, cutBy: "page" | "room"): Listing<K> => {
    const limit =
      cutBy === "page"
        ? `is larger than ${maxPageBytes} bytes`
        : "exceeds the limit for the size of all lists together";
    return { ...upTo(`page ${page} ${limit}`), cutBy };
  };
  let pageBytes = 0;
  const count = (size: number): void => {
    bytesLeft.bytes -= size;
    bytes = (bytes ?? 0) + size;
  };
  const onSize = (size: number): void => {
    pageBytes = size;
    count(size);
  };

  const onDropped = (note: DroppedItem): void => void found.dropped.push(note);

  function weighed(entries: unknown): unknown {
    if (!Array.isArray(entries) || (bytes ?? 0) < weighedFrom) return entries;
    let weight = 0;
    const kept = entries.filter((entry) => {
      const size = memoryOf(entry, fixedLimits.itemBytes);
      if (size > fixedLimits.itemBytes) {
        found.dropped.push({ ...nameOf(kind, entry), reason: `it is larger than ${fixedLimits.itemBytes} bytes` });
        return false;
      }
      weight += size;
      return true;
    });
    count(Math.max(0, weight - pageBytes));
    return kept;
  }

  for (let page = 1; page <= maxPages; page += 1) {
    let result: JsonObject;
    const maxBytes = Math.min(maxPageBytes, bytesLeft.bytes);
    if (maxBytes <= 0) return cut(page, "room");
    const limit = Number.isFinite(maxBytes) ? { maxBytes, onSize } : undefined;
    try {
      result = await session.request(method, cursor === undefined ? undefined : { cursor }, {
        ...options,
        onDropped,
        ...limit,
      });
    } catch (error) {
      if (error instanceof WireError && error.evidence.overMemory === true)
        return { ...upTo(`page ${page} was not read: ${error.message}`), cutBy: "memory" };
      if (error instanceof WireError && error.code === "too_large" && error.evidence.step === method)
        return cut(page, maxBytes < maxPageBytes ? "room" : "page");
      if (!(error instanceof WireError) || error.code !== "rpc") throw error;
      if (page > 1) return upTo(`page ${page} was refused: ${error.message}`);
      // Many servers do not declare their capabilities, so Fairlead requests the list anyway. A refusal then means an
      // empty list.
      if (error.evidence.rpc?.code === methodNotFound || !isObject(session.capabilities[capability])) return found;
      throw error;
    }
    const listed = result[member];
    const isCut = Array.isArray(listed) && listed.length > room;
    const entries = weighed(isCut ? listed.slice(0, room) : listed);
    if (bytesLeft.bytes < 0) return cut(page, "room");
    // Thousands of items take tens of milliseconds, so other code may run before and after the check.
    const isLong = pageBytes >= weighedFrom;
    if (isLong) await immediateTurn();
    const { nextCursor } = result;
    if (typeof result["ttlMs"] === "number") ttlMs = Math.min(ttlMs, Math.max(result["ttlMs"], 0));
    if (!Array.isArray(entries)) {
      found.dropped.push({ reason: `page ${page} has no list of ${member}` });
    } else {
      checkItems(kind, entries, found, mirrorsHeaders);
      if (isLong) await immediateTurn();
      if (isCut) return upTo(`more than ${maxItems} entries`);
      room -= entries.length;
    }
    if (nextCursor === undefined || nextCursor === null || nextCursor === "") return whole();
    if (typeof nextCursor !== "string" && typeof nextCursor !== "number")
      return upTo("nextCursor is neither a string nor a number");
    if (seen.has(nextCursor)) return upTo("nextCursor is the same as on an earlier page");
    if (String(nextCursor).length > fixedLimits.cursorCharacters) return upTo("nextCursor is too long");
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return upTo(`more than ${maxPages} pages`);
}

/** The bytes that V8 needs for an empty object or list, roughly. */
const perValue = 32;
const perScalar = 8;
/**
 * Down to this depth, values are counted with recursion, which is faster. Deeper values are counted with a loop,
 * because recursion could overflow the stack.
 */
const mostLevels = 100;

/** Returns the estimate in bytes. Stops counting above `most`. */
export function memoryOf(value: unknown, most: number): number {
  return memoryWithin(value, most, mostLevels);
}

/** Reads one member at a time, because `Object.values` would allocate a list for each object. */
function memoryWithin(value: unknown, most: number, levels: number): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return perScalar;
  if (levels === 0) return memoryOfDeep(value, most);
  let bytes = perValue;
  if (Array.isArray(value))
    for (let at = 0; at < value.length && bytes <= most; at += 1) bytes += memoryWithin(value[at], most, levels - 1);
  else
    for (const name in value) {
      bytes += memoryWithin((value as Readonly<Record<string, unknown>>)[name], most, levels - 1);
      if (bytes > most) break;
    }
  return bytes;
}

function memoryOfDeep(value: unknown, most: number): number {
  const open: unknown[] = [value];
  let bytes = 0;
  while (open.length > 0 && bytes <= most) {
    const next = open.pop();
    if (typeof next === "string") bytes += Buffer.byteLength(next);
    else if (typeof next === "object" && next !== null) {
      bytes += perValue;
      for (const member of Array.isArray(next) ? next : Object.values(next)) open.push(member);
    } else bytes += perScalar;
  }
  return bytes;
}
