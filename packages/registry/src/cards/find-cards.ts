/**
 * Finds the MCP servers of a domain: its catalog and the cards that it names (SEP-2127). A card says where a server is.
 * Nothing of security is decided from it: everybody who owns a domain can write anything into a card.
 */

import { createBoundedFetch, isLoopbackHost } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import type { Environment } from "@fairlead/core/settings";
import { listOf, member, parseJson, textIn } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import { isRefused, type RegistryServer, readServerJson } from "../registry/server-json.ts";

/** A server of a domain, as its card describes it. */
export interface ServerCard {
  /** The address of the card. */
  readonly from: string;
  readonly server: RegistryServer;
  /** The protocol versions that the card claims. */
  readonly protocolVersions: readonly string[];
}

/** What was found at a domain. */
export interface FoundCards {
  readonly cards: readonly ServerCard[];
  /** Why other cards of the catalog are not used. */
  readonly refused: readonly { readonly from: string; readonly why: string }[];
  /** How many cards of the catalog were not read, because there are too many. */
  readonly unread: number;
}

const most = { cards: 32, bytes: 1024 * 1024, entries: 5000 };
const cardType = "application/mcp-server-card+json";
/** Where a domain may have a catalog, the newest place first. */
const catalogs = ["/.well-known/mcp/catalog.json", "/.well-known/ai-catalog.json"];
/** Where servers had their card before there were catalogs. */
const oldCards = ["/.well-known/mcp/server-card", "/.well-known/mcp/server-card.json", "/.well-known/mcp.json"];

/** The origin of a bare domain such as `example.com`. Undefined for every other text. */
export function originOfDomain(word: string): string | undefined {
  const isDomain = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]{0,61}[a-z\d](?::\d{1,5})?$/i.test(word);
  if (!isDomain && !/^(?:localhost|127\.0\.0\.1):\d{1,5}$/.test(word)) return undefined;
  const url = parseUrl(`https://${word}`);
  return url && (isLoopbackHost(url.hostname) ? `http://${url.host}` : url.origin);
}

/**
 * Reads the cards of a domain.
 *
 * @throws HostError `unreachable` and others if the domain cannot be reached, `not_found` if it has no cards
 */
export async function findCards(
  origin: string,
  { env, signal }: { readonly env: Environment["env"]; readonly signal: AbortSignal },
): Promise<FoundCards> {
  const fetch = createBoundedFetch({ env, near: origin, maxBytes: most.bytes, signal });

  /** The JSON at an address. Undefined if there is none. */
  async function read(address: string): Promise<unknown> {
    const response = await fetch(address, { headers: { accept: `${cardType}, application/json` } });
    return response.ok ? parseJson(await response.text()) : undefined;
  }

  for (const path of catalogs) {
    const catalog = await read(`${origin}${path}`);
    const entries = listOf(member(catalog, "entries")).slice(0, most.entries);
    const addresses = entries.flatMap((entry) => {
      const url = textIn(entry, "url");
      return textIn(entry, "type") === cardType && url !== undefined ? [parseUrl(url, origin)?.href ?? url] : [];
    });
    if (addresses.length > 0) return readAll([...new Set(addresses)], read);
  }
  for (const path of oldCards) {
    const card = await read(`${origin}${path}`);
    if (member(card, "remotes") !== undefined) return toFound([readCard(`${origin}${path}`, card)], 0);
  }
  throw new HostError("not_found", `${origin} has no catalog of MCP servers and no server card`, {
    next: `if you know the address of its server: fairlead mcp add NAME ${origin}/mcp`,
  });
}

async function readAll(addresses: readonly string[], read: (address: string) => Promise<unknown>): Promise<FoundCards> {
  const cards: CardOrRefusal[] = [];
  for (const address of addresses.slice(0, most.cards)) {
    const url = parseUrl(address);
    if (url === undefined || (url.protocol !== "https:" && !isLoopbackHost(url.hostname)))
      cards.push({ from: address.slice(0, 500), why: "its address is not https" });
    else
      cards.push(
        await read(address).then(
          (card) => readCard(address, card),
          (error: unknown) => {
            if (!(error instanceof HostError) || error.code === "cancelled") throw error;
            return { from: address, why: error.message };
          },
        ),
      );
  }
  return toFound(cards, addresses.length - cards.length);
}

type CardOrRefusal = ServerCard | { readonly from: string; readonly why: string };

function readCard(from: string, card: unknown): CardOrRefusal {
  if (card === undefined) return { from, why: "there is no card" };
  const server = readServerJson(card);
  if (isRefused(server)) return { from, why: server.why };
  if (server.remotes.length === 0) return { from, why: "it names no address of a server" };
  const claimed = listOf(member(card, "remotes")).flatMap((remote) =>
    listOf(member(remote, "supportedProtocolVersions")),
  );
  const protocolVersions = claimed.filter((version) => typeof version === "string").slice(0, 32);
  return { from, server, protocolVersions: [...new Set(protocolVersions)] };
}

function toFound(all: readonly CardOrRefusal[], unread: number): FoundCards {
  return {
    cards: all.filter((one) => "server" in one),
    refused: all.filter((one) => "why" in one),
    unread,
  };
}
