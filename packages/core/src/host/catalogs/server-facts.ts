/**
 * What servers report about themselves (name, version, capabilities). If a server is not connected, the catalog cache
 * provides it.
 */

import type { JsonObject } from "@fairlead/wire";
import type { Peer } from "../../events.ts";
import type { CachedCatalog } from "../../server/catalog-store.ts";
import type { Connection } from "../../server/connection.ts";
import type { ServerDescription } from "../gateway-types.ts";

/** The stored data of a server's connection. */
export type FactSource = Pick<CachedCatalog, "catalog" | "peer" | "capabilities">;

/** What each server has reported about itself in its current or last connection. */
export interface ServerFactStore {
  /** What the server reported. Undefined if it is neither connected nor in the cache. */
  readonly serverFacts: (server: string) => ServerDescription | undefined;
  /** The protocol and transport of the current or the last connection. */
  readonly peerOf: (server: string) => Peer | undefined;
  /** Whether the server has sent a request without saying for which gateway client. */
  readonly asksBack: (server: string) => boolean;
  /** Whether each gateway client gets its own connection, if the server uses a legacy protocol version. */
  readonly isUnshared: (server: string) => boolean;
  readonly remember: (server: string, source: FactSource) => void;
  readonly setAsksBack: (server: string) => void;
  readonly setUnshared: (server: string) => void;
  readonly forget: (server: string) => void;
}

/** Creates the store. `client` returns a server's client; undefined if there is none. */
export function createServerFacts(client: (server: string) => Connection | undefined): ServerFactStore {
  const remembered = new Map<string, FactSource>();
  const withQuestions = new Set<string>();
  const unshared = new Set<string>();

  /** The data of the current connection, or of the last one, or from the cache. */
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
    isUnshared: (server) => withQuestions.has(server) || unshared.has(server),
    remember: (server, { catalog, peer, capabilities }) => void remembered.set(server, { catalog, peer, capabilities }),
    setAsksBack: (server) => void withQuestions.add(server),
    setUnshared: (server) => void unshared.add(server),
    forget(server) {
      remembered.delete(server);
      withQuestions.delete(server);
      unshared.delete(server);
    },
  };
}
