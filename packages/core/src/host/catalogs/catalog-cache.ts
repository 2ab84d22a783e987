/**
 * The catalog cache: each server's catalog, negotiated protocol and accepted definitions, kept on disk between runs.
 */

import { join } from "node:path";
import type { NegotiatedProtocol } from "@fairlead/wire";
import { HostError } from "../../errors.ts";
import type { Peer } from "../../events.ts";
import { once } from "../../request/open-work.ts";
import type {
  AcceptedDefinitions,
  AcceptedDefinitionsStore,
  DefinitionOwner,
} from "../../server/accepted-definitions.ts";
import type { CachedCatalog, CatalogStore } from "../../server/catalog-store.ts";
import { optionOrigin, type ServerDefinition, typedOrigin } from "../../settings/define/definition.ts";
import { present } from "../../settings/schema/present.ts";

/** Reads and writes the catalog cache. */
export interface CatalogCache {
  /**
   * The cache key of a server. It depends on the definition, the values of its variables and the signed-in account.
   * Rejects if a variable is not set.
   */
  keyOf(definition: ServerDefinition): Promise<string>;
  /** Returns the cached catalog. Undefined if there is none or it cannot be read. */
  recall(definition: ServerDefinition): Promise<CachedCatalog | undefined>;
  /** Returns the negotiated protocol if it is at most 7 days old. */
  protocol(definition: ServerDefinition): Promise<NegotiatedProtocol | undefined>;
  keep(definition: ServerDefinition, snapshot: CatalogSnapshot): Promise<void>;
  /**
   * Whether the cache notes that the server sent a request (such as an elicitation) without saying for which gateway
   * client. False if the key cannot be computed; true if the cache's folder cannot be listed.
   */
  asksBack(definition: ServerDefinition): Promise<boolean>;
  noteAsksBack(definition: ServerDefinition): Promise<void>;
  /** Returns the digests of the accepted definitions; undefined if they cannot be read. */
  acceptedDefinitions(definition: ServerDefinition): Promise<AcceptedDefinitions | undefined>;
  /**
   * Adds digests of accepted definitions, by tool name.
   *
   * @throws HostError `internal` if the state folder cannot be written
   */
  addAccepted(definition: ServerDefinition, news: ReadonlyMap<string, readonly string[]>): Promise<AcceptedDefinitions>;
  /** Why `addAccepted` would fail; undefined if nothing is known against it. Writes nothing. */
  whyUnsaved(): Promise<string | undefined>;
  /** Why `keep` would fail; undefined if nothing is known against it. Writes nothing. */
  whyNotKept(): Promise<string | undefined>;
}

/** The data about a connected server that the cache saves. */
export type CatalogSnapshot = Pick<
  CachedCatalog,
  "accepted" | "catalog" | "hidden" | "offer" | "peer" | "capabilities"
>;

/** The catalog of a connected server, with the protocol, transport and capabilities of the connection. */
export type ServerListing = Omit<CatalogSnapshot, "accepted">;

/** State folder, secrets and accounts that the cache uses. */
export interface CatalogCacheOptions {
  /** The folder of Fairlead's state files. */
  readonly state: string;
  readonly secret: (name: string) => Promise<string | undefined>;
  /**
   * The account that is signed in to the server. It is part of the cache key, because another account may see other
   * tools.
   */
  readonly accountAt?: (definition: ServerDefinition, serverUrl: string) => Promise<string | undefined>;
  /**
   * Whether the host's option `era` is set. Then this run tries the chosen protocol first, and the cached protocol
   * stays.
   */
  readonly choosesEra?: boolean;
  /** The clock, in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/**
 * Milliseconds after which Fairlead negotiates the protocol again, because an updated server may support a newer
 * protocol version.
 */
const protocolLifetime = 7 * 24 * 60 * 60 * 1000;

/** Creates the cache. It reads nothing from disk until it is used. */
export function createCatalogCache(options: CatalogCacheOptions): CatalogCache {
  const { state, secret, accountAt, choosesEra = false, now = Date.now } = options;
  const recalled = new WeakMap<ServerDefinition, Promise<CachedCatalog | undefined>>();
  const acceptedBy = new WeakMap<ServerDefinition, Promise<AcceptedDefinitions | undefined>>();
  const opened = once(open);
  const openAccepted = once(async (): Promise<AcceptedDefinitionsStore> => {
    const { createAcceptedDefinitionsStore } = await import("../../server/accepted-definitions.ts");
    return createAcceptedDefinitionsStore(join(state, "known"));
  });

  async function open(): Promise<Opened> {
    const [{ catalogKey, createCatalogStore }, { expandTransport }, { localKey }] = await Promise.all([
      import("../../server/catalog-store.ts"),
      import("../../settings/define/expand.ts"),
      import("../../files/secrets/local-key.ts"),
    ]);
    const key = once(() => localKey(join(state, "catalogs.key")));
    return {
      store: createCatalogStore(join(state, "catalogs")),
      async keyOf(definition) {
        const expanded = await expandTransport(definition, secret);
        // The user may sign in while the host runs, so the account is read each time.
        const account = expanded.kind === "stdio" ? undefined : await accountAt?.(definition, expanded.url);
        const { fingerprint, approvalFolder: folder } = definition;
        return catalogKey({ fingerprint, expanded, ...present({ account, folder }) }, await key());
      },
    };
  }

  async function read(definition: ServerDefinition): Promise<CachedCatalog | undefined> {
    try {
      const { store, keyOf } = await opened();
      return (await store.isEmpty()) ? undefined : await store.read(await keyOf(definition));
    } catch {
      // An error such as an unset variable is ignored here. Connecting to the server reports it.
      return undefined;
    }
  }

  function recall(definition: ServerDefinition): Promise<CachedCatalog | undefined> {
    const found = recalled.get(definition) ?? read(definition);
    recalled.set(definition, found);
    return found;
  }

  async function readAccepted(definition: ServerDefinition): Promise<AcceptedDefinitions | undefined> {
    try {
      const store = await openAccepted();
      const [own, first] = await Promise.all([store.read(ownerOf(definition)), readFirst(definition)]);
      return first === undefined ? own : either(own, first);
    } catch {
      // The error is ignored here. `addAccepted` reports it.
      return undefined;
    }
  }

  /**
   * The definitions that a server of the user's settings had in the first folder that listed them. A folder without an
   * accepted definition of its own compares with these, so that no tool is new only because the folder is.
   */
  async function readFirst(definition: ServerDefinition): Promise<AcceptedDefinitions | undefined> {
    const owner = firstOwnerOf(definition);
    return owner && (await openAccepted()).read(owner);
  }

  async function add(
    definition: ServerDefinition,
    news: ReadonlyMap<string, readonly string[]>,
  ): Promise<AcceptedDefinitions> {
    const store = await openAccepted();
    const own = await store.add(ownerOf(definition), news);
    const owner = firstOwnerOf(definition);
    if (owner === undefined) return own;
    const first = await store.read(owner);
    const unlisted = new Map([...news].filter(([tool]) => first.of(tool) === undefined));
    return either(own, unlisted.size === 0 ? first : await store.add(owner, unlisted));
  }

  return {
    recall,
    keyOf: async (definition) => (await opened()).keyOf(definition),

    acceptedDefinitions(definition) {
      const found = acceptedBy.get(definition) ?? readAccepted(definition);
      acceptedBy.set(definition, found);
      return found;
    },

    async addAccepted(definition, news) {
      const accepted = await add(definition, news).catch(async (error: unknown) => {
        throw await notSaved(state, error);
      });
      acceptedBy.set(definition, Promise.resolve(accepted));
      return accepted;
    },

    async whyUnsaved() {
      return whyNot(state, (await openAccepted()).checkWritable());
    },

    async whyNotKept() {
      return whyNot(state, (await opened()).store.checkWritable());
    },

    async protocol(definition) {
      const { peer, reachedAt = 0 } = (await recall(definition)) ?? {};
      return peer && now() - reachedAt < protocolLifetime ? toProtocol(peer) : undefined;
    },

    async asksBack(definition) {
      try {
        const { store, keyOf } = await opened();
        return !(await store.isEmpty()) && (await store.asksBack(await keyOf(definition)));
      } catch {
        return false;
      }
    },

    async noteAsksBack(definition) {
      const { store, keyOf } = await opened();
      await store.noteAsksBack(await keyOf(definition));
    },

    async keep(definition, given) {
      const before = await recall(definition);
      const snapshot = choosesEra && before !== undefined ? { ...given, peer: before.peer } : given;
      const savedAt = now();
      const { ttlMs } = snapshot.catalog;
      const isAsBefore =
        before !== undefined &&
        savedAt - before.reachedAt < protocolLifetime &&
        before.peer.era === snapshot.peer.era &&
        before.peer.transport === snapshot.peer.transport;
      const remembered: CachedCatalog = {
        ...snapshot,
        // The protocol may have been negotiated in an earlier run.
        reachedAt: choosesEra ? (before?.reachedAt ?? 0) : isAsBefore ? before.reachedAt : savedAt,
        savedAt,
        ...(ttlMs !== undefined && { freshUntil: savedAt + ttlMs }),
      };
      recalled.set(definition, Promise.resolve(remembered));
      const { store, keyOf } = await opened();
      await store.save(await keyOf(definition), remembered);
    },
  };
}

async function notSaved(state: string, error: unknown): Promise<HostError> {
  const { explain } = await import("../../files/system-error.ts");
  const cause = error instanceof HostError && error.cause instanceof Error ? error.cause : error;
  return new HostError("internal", `the state folder ${state} cannot be written: ${explain(cause)}`, { cause: error });
}

/** The message of `notSaved` if the check rejects. */
async function whyNot(state: string, check: Promise<void>): Promise<string | undefined> {
  return check.then(
    () => undefined,
    async (error: unknown) => (await notSaved(state, error)).message,
  );
}

function ownerOf({ name: server, approvalFolder, origin, fingerprint }: ServerDefinition): DefinitionOwner {
  return {
    server,
    ...(approvalFolder !== undefined && { workspace: approvalFolder }),
    /*
     * A server from the command line or `createHost` may have the same name as a different server in an earlier run.
     * The fingerprint tells them apart.
     */
    ...((origin.file === typedOrigin || origin.file === optionOrigin) && { fingerprint }),
  };
}

/** Present if an entry of the user's settings may run another program in each folder. */
function firstOwnerOf(definition: ServerDefinition): DefinitionOwner | undefined {
  const { workspace, ...everywhere } = ownerOf(definition);
  return definition.scope === "workspace" || workspace === undefined ? undefined : everywhere;
}

function either(own: AcceptedDefinitions, first: AcceptedDefinitions): AcceptedDefinitions {
  return { of: (tool) => own.of(tool) ?? first.of(tool), isFull: own.isFull };
}

function toProtocol({ era, transport }: Peer): NegotiatedProtocol | undefined {
  if (transport === undefined) return undefined;
  if (era === "legacy") return { era, transport };
  return transport === "sse" ? undefined : { era, transport };
}

interface Opened {
  readonly store: CatalogStore;
  readonly keyOf: (definition: ServerDefinition) => Promise<string>;
}
