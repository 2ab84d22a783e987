/** Catalogs kept on disk from one run to the next, with the protocol that each server was reached by; and the accepted definitions. */

import { join } from "node:path";
import type { Verdict } from "@fairlead/wire";
import type { KnownDefinitions, KnownStore, Owner } from "../../discover/accepted-definitions.ts";
import type { Remembered } from "../../discover/cached-catalog.ts";
import type { CatalogStore } from "../../discover/catalog-store.ts";
import type { Peer } from "../../events.ts";
import { optionOrigin, type ServerDefinition, typedOrigin } from "../../settings/define/definition.ts";
import { once } from "../once.ts";

export interface CatalogCache {
  /** What was known when the host began, read once. Undefined where there is nothing, or nothing that can be read. */
  recall(definition: ServerDefinition): Promise<Remembered | undefined>;
  /** How to reach it, if that was found out not too long ago. */
  verdict(definition: ServerDefinition): Promise<Verdict | undefined>;
  keep(definition: ServerDefinition, snapshot: CatalogSnapshot): Promise<void>;
  /** Which definitions of its tools a person knows, read once. Undefined where that cannot be read. */
  known(definition: ServerDefinition): Promise<KnownDefinitions | undefined>;
  /** Digests by tool, for the runs to come. */
  addKnown(definition: ServerDefinition, news: ReadonlyMap<string, readonly string[]>): Promise<KnownDefinitions>;
}

/** What is saved of a connected server. */
export type CatalogSnapshot = Pick<Remembered, "accepted" | "catalog" | "hidden" | "offer" | "peer">;

export interface CatalogCacheOptions {
  /** Where the state of ours lives. */
  readonly state: string;
  readonly secret: (name: string) => Promise<string | undefined>;
  /** Who is signed in to the server there: another account may see other tools. */
  readonly accountAt?: (definition: ServerDefinition, serverUrl: string) => Promise<string | undefined>;
  /** Milliseconds since 1970. */
  readonly today?: () => number;
}

/** A server that was updated to the newer protocol still answers in the older one: without a date that would never be noticed. */
const verdictLifetime = 7 * 24 * 60 * 60 * 1000;

export function createCatalogCache({ state, secret, accountAt, today = Date.now }: CatalogCacheOptions): CatalogCache {
  const recalled = new WeakMap<ServerDefinition, Promise<Remembered | undefined>>();
  const knowing = new WeakMap<ServerDefinition, Promise<KnownDefinitions | undefined>>();
  const opened = once(open);
  const openedKnown = once(async (): Promise<KnownStore> => {
    const { createKnownStore } = await import("../../discover/accepted-definitions.ts");
    return createKnownStore(join(state, "known"));
  });

  async function open(): Promise<Opened> {
    const [{ createCatalogStore }, { catalogKey }, { expandTransport }, { localKey }] = await Promise.all([
      import("../../discover/catalog-store.ts"),
      import("../../discover/catalog-key.ts"),
      import("../../settings/define/expand.ts"),
      import("../../files/secrets/local-key.ts"),
    ]);
    const key = await localKey(join(state, "catalogs.key"));
    return {
      store: createCatalogStore(join(state, "catalogs")),
      async keyOf(definition) {
        const expanded = await expandTransport(definition, secret);
        // Asked each time: somebody may sign in between the reading and the keeping.
        const account = expanded.kind === "stdio" ? undefined : await accountAt?.(definition, expanded.url);
        const { fingerprint } = definition;
        return catalogKey({ fingerprint, expanded, ...(account !== undefined && { account }) }, key);
      },
    };
  }

  async function read(definition: ServerDefinition): Promise<Remembered | undefined> {
    try {
      const { store, keyOf } = await opened();
      return await store.recall(await keyOf(definition));
    } catch {
      // An unset variable, a locked keychain, a full disk: whoever connects to the server is told in full.
      return undefined;
    }
  }

  function recall(definition: ServerDefinition): Promise<Remembered | undefined> {
    const found = recalled.get(definition) ?? read(definition);
    recalled.set(definition, found);
    return found;
  }

  async function readKnown(definition: ServerDefinition): Promise<KnownDefinitions | undefined> {
    try {
      return await (await openedKnown()).read(ownerOf(definition));
    } catch {
      // Nothing of this state can be read then: the doctor says so.
      return undefined;
    }
  }

  return {
    recall,

    known(definition) {
      const found = knowing.get(definition) ?? readKnown(definition);
      knowing.set(definition, found);
      return found;
    },

    async addKnown(definition, news) {
      const known = await (await openedKnown()).add(ownerOf(definition), news);
      knowing.set(definition, Promise.resolve(known));
      return known;
    },

    async verdict(definition) {
      const { peer, reachedAt = 0 } = (await recall(definition)) ?? {};
      return peer && today() - reachedAt < verdictLifetime ? toVerdict(peer) : undefined;
    },

    async keep(definition, snapshot) {
      const before = await recall(definition);
      const savedAt = today();
      const { ttlMs } = snapshot.catalog;
      const isAsBefore =
        before !== undefined &&
        savedAt - before.reachedAt < verdictLifetime &&
        before.peer.era === snapshot.peer.era &&
        before.peer.transport === snapshot.peer.transport;
      const remembered: Remembered = {
        ...snapshot,
        // Found out then, and only relied upon since.
        reachedAt: isAsBefore ? before.reachedAt : savedAt,
        savedAt,
        ...(ttlMs !== undefined && { freshUntil: savedAt + ttlMs }),
      };
      recalled.set(definition, Promise.resolve(remembered));
      const { store, keyOf } = await opened();
      await store.save(await keyOf(definition), remembered);
    },
  };
}

function ownerOf({ name: server, scope, base, origin, fingerprint }: ServerDefinition): Owner {
  return {
    server,
    ...(scope === "workspace" && { workspace: base.folder }),
    // No file owns the name: another program may give it to another server.
    ...((origin.file === typedOrigin || origin.file === optionOrigin) && { fingerprint }),
  };
}

function toVerdict({ era, transport }: Peer): Verdict | undefined {
  if (transport === undefined) return undefined;
  if (era === "legacy") return { era, transport };
  return transport === "sse" ? undefined : { era, transport };
}

interface Opened {
  readonly store: CatalogStore;
  readonly keyOf: (definition: ServerDefinition) => Promise<string>;
}
