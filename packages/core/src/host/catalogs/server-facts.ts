/**
 * The facts that servers report about themselves. They come from connections, or from the catalog cache if a server is
 * not connected.
 */

import type { JsonObject } from "@fairlead/wire";
import type { CachedCatalog } from "../../discover/catalog-store.ts";
import type { Peer } from "../../events.ts";
import type { McpClient } from "../../mcp/client.ts";
import type { ServerDescription } from "../gateway-types.ts";

/** The data about a server from which its facts are made. */
export type FactSource = Pick<CachedCatalog, "catalog" | "peer" | "capabilities">;

export interface ServerFactStore {
  /** The facts about a server. Undefined if it is not connected and the cache has no facts about it. */
  readonly serverFacts: (server: string) => ServerDescription | undefined;
  /** The protocol and transport of the current or the last connection. */
  readonly peerOf: (server: string) => Peer | undefined;
  /** Whether the server has asked a question without saying which of several clients it is for. */
  readonly asksBack: (server: string) => boolean;
  readonly remember: (server: string, source: FactSource) => void;
  readonly setAsksBack: (server: string) => void;
  readonly forget: (server: string) => void;
}

export function createServerFacts(client: (server: string) => McpClient | undefined): ServerFactStore {
  const remembered = new Map<string, FactSource>();
  const withQuestions = new Set<string>();

  /**
   * Returns the data of the connected server. If the server is not connected, returns the data of its last connection
   * or of the cache.
   */
  function sourceOf(server: string): FactSource | undefined {
    const { state, filteredCatalog, capabilities } = client(server) ?? {};
    if (state?.status !== "connected" || filteredCatalog === undefined) return remembered.get(server);
    return { catalog: filteredCatalog.catalog, peer: state.peer, capabilities };
  }

  return {
    serverFacts(server) {
      const { catalog, peer, capabilities } = sourceOf(server) ?? {};
      if (peer === undefined || capabilities === undefined) return undefined;
      const serverInfo: JsonObject = { ...peer.serverInfo };
      const instructions = catalog?.instructions;
      return { era: peer.era, serverInfo, capabilities, ...(instructions !== undefined && { instructions }) };
    },
    peerOf: (server) => sourceOf(server)?.peer,
    asksBack: (server) => withQuestions.has(server),
    remember: (server, { catalog, peer, capabilities }) => void remembered.set(server, { catalog, peer, capabilities }),
    setAsksBack: (server) => void withQuestions.add(server),
    forget(server) {
      remembered.delete(server);
      withQuestions.delete(server);
    },
  };
}
