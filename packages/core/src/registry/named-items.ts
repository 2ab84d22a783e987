/** Gives each tool or prompt of all servers a unique name: the shared part of `ToolRegistry` and `PromptRegistry`. */

import { HostError } from "../errors.ts";
import { assignNames } from "../normalise/tool-name.ts";

/** A tool or prompt that can be renamed. */
export interface Nameable<T> {
  readonly serverName: string;
  /** The name that a model or the user uses. */
  readonly name: string;
  readonly nameOverride: string | undefined;
  /** Returns the same item under another name. */
  named(name: string): T;
}

export interface NamedItemsOptions<T> {
  /** The server's own name of the item. */
  readonly ownName: (item: T) => string;
  readonly serverOrder?: readonly string[] | undefined;
  /** Servers whose items never get a bare name. */
  readonly alwaysQualified?: readonly string[] | undefined;
  readonly limit?: { readonly count: number; readonly reason: string };
}

/** An item that has no name in the registry, with the reason. */
export interface UnnamedItem {
  readonly server: string;
  readonly ownName: string;
  readonly reason: string;
}

export interface NamedItems<T> {
  /** Adds an item. If the server has one with the same name already, the first one stays. */
  add(item: T): void;
  /**
   * Replaces all items of a server. If one does not belong to it, nothing changes. A function makes the items when they
   * are needed; all of them must belong to the server.
   */
  replace(server: string, items: Iterable<T> | (() => Iterable<T>)): void;
  remove(server: string): void;
  /** Sets a new order of servers: the first of several items with the same name keeps the bare name. */
  reorder(serverOrder: readonly string[], alwaysQualified: readonly string[]): void;
  /** All items under their names. The same array as long as nothing changes. */
  all(): readonly T[];
  ofServer(server: string): readonly T[];
  get(name: string): T | undefined;
  find(server: string, ownName: string): T | undefined;
  leftOut(): readonly UnnamedItem[];
}

/** The items of one server, by its own names. */
type ServerItems<T> = () => Map<string, T>;

interface View<T> {
  readonly all: readonly T[];
  readonly byName: ReadonlyMap<string, T>;
  readonly byServer: ReadonlyMap<string, ReadonlyMap<string, T>>;
  readonly leftOut: readonly UnnamedItem[];
}

export function createNamedItems<T extends Nameable<T>>(options: NamedItemsOptions<T>): NamedItems<T> {
  const { ownName, serverOrder, limit } = options;
  const servers = createByServer<ServerItems<T>>(serverOrder);
  let qualified = new Set(options.alwaysQualified);
  const copies = new WeakMap<T, T>();
  // Computed when needed: names depend on all items, and many may change before the next use.
  let view: View<T> | undefined;

  /** Returns the same object as long as the name is unchanged, so that references stay valid. */
  function rename(item: T, name: string): T {
    if (item.name === name) return item;
    const known = copies.get(item);
    if (known?.name === name) return known;
    const copy = item.named(name);
    copies.set(item, copy);
    return copy;
  }

  function build(): View<T> {
    const items: T[] = [];
    const leftOut: UnnamedItem[] = [];
    for (const [server, itemsOf] of servers.inOrder()) {
      const offered = itemsOf();
      const end = items.length + (limit?.count ?? offered.size);
      for (const [own, item] of offered) {
        const reason = own === "" ? "it has no name" : items.length === end ? limit?.reason : undefined;
        if (reason === undefined) items.push(item);
        else leftOut.push({ server, ownName: own, reason });
      }
    }
    const claims = items.map((item) => ({ server: item.serverName, name: ownName(item), wish: item.nameOverride }));
    const names = assignNames(claims, { isAlwaysQualified: (server) => qualified.has(server) });
    return {
      ...index(
        items.map((item, at) => rename(item, names[at] ?? item.name)),
        ownName,
      ),
      leftOut,
    };
  }

  /** @throws HostError `usage` if an item does not belong to the server */
  function byOwnName(server: string, items: Iterable<T>): Map<string, T> {
    const offered = new Map<string, T>();
    for (const item of items) {
      if (item.serverName !== server)
        throw new HostError("usage", `"${ownName(item)}" belongs to "${item.serverName}", not to "${server}"`);
      if (!offered.has(ownName(item))) offered.set(ownName(item), item);
    }
    return offered;
  }

  const current = (): View<T> => (view ??= build());

  return {
    add(item) {
      const offered = servers.get(item.serverName)?.() ?? new Map<string, T>();
      if (offered.has(ownName(item))) return;
      offered.set(ownName(item), item);
      servers.set(item.serverName, () => offered);
      view = undefined;
    },
    replace(server, items) {
      let offered = typeof items === "function" ? undefined : byOwnName(server, items);
      servers.set(server, () => (offered ??= byOwnName(server, typeof items === "function" ? items() : items)));
      view = undefined;
    },
    remove(server) {
      servers.delete(server);
      view = undefined;
    },
    reorder(order, alwaysQualified) {
      servers.reorder(order);
      qualified = new Set(alwaysQualified);
      view = undefined;
    },
    all: () => current().all,
    ofServer: (server) => [...(current().byServer.get(server)?.values() ?? [])],
    get: (name) => current().byName.get(name),
    find: (server, name) => current().byServer.get(server)?.get(name),
    leftOut: () => current().leftOut,
  };
}

function index<T extends Nameable<T>>(all: readonly T[], ownName: (item: T) => string): Omit<View<T>, "leftOut"> {
  const byServer = new Map<string, Map<string, T>>();
  for (const item of all) {
    const offered = byServer.get(item.serverName) ?? new Map<string, T>();
    byServer.set(item.serverName, offered.set(ownName(item), item));
  }
  return { all, byName: new Map(all.map((item) => [item.name, item])), byServer };
}

/** Values by server name. */
export interface ByServer<T> {
  get(server: string): T | undefined;
  set(server: string, value: T): void;
  delete(server: string): void;
  reorder(serverOrder: readonly string[]): void;
  /** All values in order. Servers that the settings do not name come last, in the order of their first arrival. */
  inOrder(): readonly (readonly [server: string, value: T])[];
}

/** Values by server, in the order of the settings. */
export function createByServer<T>(serverOrder: readonly string[] = []): ByServer<T> {
  const values = new Map<string, T>();
  let ranks = ranksOf(serverOrder);
  // Never removed, so that a server that is registered again keeps its position.
  const arrivals = new Map<string, number>();
  const rankOf = (server: string): number => ranks.get(server) ?? ranks.size + (arrivals.get(server) ?? 0);
  return {
    get: (server) => values.get(server),
    set(server, value) {
      if (!arrivals.has(server)) arrivals.set(server, arrivals.size);
      values.set(server, value);
    },
    delete: (server) => void values.delete(server),
    reorder(next) {
      ranks = ranksOf(next);
    },
    inOrder: () => [...values].sort(([a], [b]) => rankOf(a) - rankOf(b)),
  };
}

function ranksOf(serverOrder: readonly string[]): ReadonlyMap<string, number> {
  return new Map(serverOrder.map((server, rank) => [server, rank]));
}
