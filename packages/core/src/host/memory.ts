/** What a host remembers of its servers from one run to the next: their catalogs, and how they were reached. */

import { join } from "node:path";
import type { Verdict } from "@fairlead/wire";
import type { CatalogStore } from "../discover/catalog-store.ts";
import type { Remembered } from "../discover/remembered.ts";
import type { Peer } from "../events.ts";
import type { ServerDefinition } from "../settings/definition.ts";
import { once } from "./once.ts";

export interface HostMemory {
  /** What was known when the host began, read once. Undefined where there is nothing, or nothing that can be read. */
  recall(definition: ServerDefinition): Promise<Remembered | undefined>;
  /** How to reach it, if that was found out not too long ago. */
  verdict(definition: ServerDefinition): Promise<Verdict | undefined>;
  keep(definition: ServerDefinition, learnt: Learnt): Promise<void>;
}

export type Learnt = Pick<Remembered, "catalog" | "hidden" | "offer" | "peer">;

export interface MemoryOptions {
  /** Where the state of ours lives. */
  readonly state: string;
  readonly secret: (name: string) => Promise<string | undefined>;
  /** Milliseconds since 1970. */
  readonly today?: () => number;
}

/** A server that was updated to the newer protocol still answers in the older one: without a date that would never be noticed. */
const verdictLifetime = 7 * 24 * 60 * 60 * 1000;

export function createHostMemory({ state, secret, today = Date.now }: MemoryOptions): HostMemory {
  const keys = new WeakMap<ServerDefinition, Promise<string>>();
  const recalled = new WeakMap<ServerDefinition, Promise<Remembered | undefined>>();
  const opened = once(open);

  async function open(): Promise<Opened> {
    const [{ createCatalogStore }, { catalogKey }, { expandTransport }, { localKey }] = await Promise.all([
      import("../discover/catalog-store.ts"),
      import("../discover/catalog-key.ts"),
      import("../settings/expand.ts"),
      import("../files/local-key.ts"),
    ]);
    const key = await localKey(join(state, "catalogs.key"));
    return {
      store: createCatalogStore(join(state, "catalogs")),
      async keyOf(definition) {
        const expanded = await expandTransport(definition, secret);
        return catalogKey({ fingerprint: definition.fingerprint, expanded }, key);
      },
    };
  }

  function keyOf(definition: ServerDefinition): Promise<string> {
    const key = keys.get(definition) ?? opened().then((memory) => memory.keyOf(definition));
    keys.set(definition, key);
    return key;
  }

  async function read(definition: ServerDefinition): Promise<Remembered | undefined> {
    try {
      const key = await keyOf(definition);
      const { store } = await opened();
      return await store.recall(key);
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

  return {
    recall,

    async verdict(definition) {
      const { peer, reachedAt = 0 } = (await recall(definition)) ?? {};
      return peer && today() - reachedAt < verdictLifetime ? toVerdict(peer) : undefined;
    },

    async keep(definition, learnt) {
      const before = await recall(definition);
      const savedAt = today();
      const { ttlMs } = learnt.catalog;
      const isAsBefore =
        before !== undefined &&
        savedAt - before.reachedAt < verdictLifetime &&
        before.peer.era === learnt.peer.era &&
        before.peer.transport === learnt.peer.transport;
      const remembered: Remembered = {
        ...learnt,
        // Found out then, and only relied upon since.
        reachedAt: isAsBefore ? before.reachedAt : savedAt,
        savedAt,
        ...(ttlMs !== undefined && { freshUntil: savedAt + ttlMs }),
      };
      recalled.set(definition, Promise.resolve(remembered));
      const { store } = await opened();
      await store.save(await keyOf(definition), remembered);
    },
  };
}

function toVerdict({ era, transport }: Peer): Verdict | undefined {
  if (transport === undefined) return undefined;
  if (era === "legacy") return { era, transport };
  return transport === "sse" ? undefined : { era, transport };
}

interface Opened {
  readonly store: CatalogStore;
  keyOf(definition: ServerDefinition): Promise<string>;
}
