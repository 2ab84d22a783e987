/** Searches the servers of several MCP registries, page by page. */

import { HostError } from "@fairlead/core/errors";
import { parseJson, stringOf } from "@fairlead/wire/json";
import { type CachedReply, contains, isOutage, type McpRegistry, registryLimits } from "./mcp-registry.ts";
import type { RefusedServer, RegistryPackage, RegistryServer } from "./server-json.ts";

/** One server that a search found. */
export interface FoundServer {
  readonly server: RegistryServer;
  /** The address of its registry. */
  readonly registry: string;
}

export interface SearchResult {
  readonly found: readonly FoundServer[];
  readonly refused: readonly RefusedServer[];
  readonly nextCursor?: string | undefined;
  /** Registries that could not be reached, and the age of what is shown of them instead. */
  readonly kept: readonly (CachedReply & { readonly registry: string })[];
  /** Registries that could not be reached and of which nothing is on disk. */
  readonly failed: readonly { readonly registry: string; readonly why: HostError }[];
}

export interface SearchQuestion {
  /** Each word must be in the server's name, title or description. */
  readonly words: readonly string[];
  readonly limit: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** Where a search goes on: the position of a registry, a cursor of this registry, and how much of that page was shown. */
interface Position {
  readonly registry: string;
  readonly cursor: string | undefined;
  readonly from: number;
}

/** A registry of 20 000 servers has 200 pages. */
const mostPages = 400;
/** Pages without a server that a registry may send in a row. */
const mostEmptyPages = 10;
const mostTime = 120_000;

/**
 * Searches the registries in their order.
 *
 * @throws HostError if no registry answered and nothing is on disk, or if a registry's pages never end
 */
export async function searchRegistries(
  registries: readonly McpRegistry[],
  { words, limit, cursor }: SearchQuestion,
): Promise<SearchResult> {
  const start = cursor === undefined ? undefined : readCursor(cursor, registries);
  const first = start === undefined ? 0 : registries.findIndex(({ address }) => address === start.registry);
  const found: FoundServer[] = [];
  const refused: RefusedServer[] = [];
  const kept: (CachedReply & { readonly registry: string })[] = [];
  const failed: { readonly registry: string; readonly why: HostError }[] = [];
  let nextCursor: string | undefined;
  for (const [at, registry] of registries.slice(first).entries()) {
    const room = limit - found.length;
    const begin = { registry: registry.address, cursor: undefined, from: 0 };
    if (room <= 0) {
      nextCursor = writeCursor(begin);
      break;
    }
    try {
      const from = at === 0 && start ? start : begin;
      const part = await searchOne(registry, { words, room, start: from }).catch((error: unknown) =>
        isOutage(error) ? searchKept(registry, error, { words, room, start: from }) : Promise.reject(error),
      );
      found.push(...part.found.map((server) => ({ server, registry: registry.address })));
      refused.push(...part.refused);
      if (part.kept !== undefined) kept.push({ ...part.kept, registry: registry.address });
      if (part.next !== undefined) {
        nextCursor = writeCursor(part.next);
        break;
      }
    } catch (error) {
      if (!isOutage(error)) throw error;
      failed.push({ registry: registry.address, why: error });
    }
  }
  const [failure] = failed;
  if (failure !== undefined && failed.length === registries.length - first) throw failure.why;
  return { found, refused, nextCursor, kept, failed };
}

interface Part {
  readonly found: readonly RegistryServer[];
  readonly refused: readonly RefusedServer[];
  readonly kept?: CachedReply | undefined;
  readonly next: Position | undefined;
}

interface Wanted {
  readonly words: readonly string[];
  readonly room: number;
  readonly start: Position;
}

function matches(server: RegistryServer, words: readonly string[]): boolean {
  return words.every((word) => contains(server, word));
}

async function searchOne(registry: McpRegistry, { words, room, start }: Wanted): Promise<Part> {
  // The registry is asked for one word: it looks for a text, not for several words.
  const search = [...words].sort((a, b) => b.length - a.length)[0];
  const found: RegistryServer[] = [];
  const refused: RefusedServer[] = [];
  const seen = new Set<string>();
  const until = Date.now() + mostTime;
  let kept: CachedReply | undefined;
  let { cursor, from } = start;
  let empty = 0;
  for (let pages = 0; ; pages += 1) {
    if (pages === mostPages || empty === mostEmptyPages || Date.now() > until)
      throw endless(registry, "its pages do not end");
    const page = await registry.list({ search, cursor, limit: registryLimits.page });
    kept ??= page.kept;
    empty = page.servers.length === 0 ? empty + 1 : 0;
    refused.push(...page.refused);
    const left = page.servers.slice(from);
    for (const [index, server] of left.entries()) {
      if (!matches(server, words)) continue;
      if (found.length === room)
        return { found, refused, kept, next: { registry: registry.address, cursor, from: from + index } };
      found.push(server);
    }
    const { nextCursor } = page;
    if (nextCursor === undefined) return { found, refused, kept, next: undefined };
    if (nextCursor === cursor || seen.has(nextCursor)) throw endless(registry, "it sends the same cursor again");
    seen.add(nextCursor);
    cursor = nextCursor;
    from = 0;
    if (found.length === room) return { found, refused, kept, next: { registry: registry.address, cursor, from } };
  }
}

/** Searches what is on disk of a registry that cannot be reached. Throws the outage if there is nothing. */
async function searchKept(registry: McpRegistry, why: HostError, { words, room, start }: Wanted): Promise<Part> {
  const { servers, savedAt } = await registry.cachedServers();
  if (savedAt === undefined || start.cursor !== undefined) throw why;
  const all = servers.filter((server) => matches(server, words)).slice(start.from);
  const next = all.length > room ? { ...start, from: start.from + room } : undefined;
  return { found: all.slice(0, room), refused: [], kept: { age: Math.max(0, Date.now() - savedAt), why }, next };
}

function endless({ address }: McpRegistry, why: string): HostError {
  return new HostError("flooding", `the registry ${address} cannot be searched: ${why}`, {
    next: "use another registry: --registry URL",
  });
}

function writeCursor({ registry, cursor, from }: Position): string {
  return Buffer.from(JSON.stringify([registry, cursor ?? null, from])).toString("base64url");
}

/** @throws HostError `usage` if the text is no cursor of these registries */
function readCursor(text: string, registries: readonly McpRegistry[]): Position {
  const value = text.length > 20_000 ? undefined : parseJson(Buffer.from(text, "base64url").toString());
  const [registry, cursor, from] = Array.isArray(value) ? (value as unknown[]) : [];
  const isOne = registries.some(({ address }) => address === registry);
  if (!isOne || !Number.isSafeInteger(from) || Number(from) < 0)
    throw new HostError("usage", "the cursor is not one of this search", {
      next: "copy it from the page before, and search the same registries",
    });
  return { registry: String(registry), cursor: stringOf(cursor), from: Number(from) };
}

/** The kinds in which a server can be used: `npm`, `pypi`, `oci`, `nuget`, `mcpb`, others, and `remote`. */
export function serverKinds({ packages, remotes }: RegistryServer): readonly string[] {
  const kinds = packages.map(({ registryType }: RegistryPackage) => registryType);
  return [...new Set([...kinds, ...(remotes.length > 0 ? ["remote"] : [])])];
}
