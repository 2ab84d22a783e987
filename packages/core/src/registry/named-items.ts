/** What all servers offer of one kind, each under a name of its own: the common ground of the registries for tools and prompts. */

import { HostError } from "../errors.ts";
import { assignNames } from "../normalise/tool-name.ts";
import { createByServer } from "./by-server.ts";

export interface Nameable<T> {
  readonly serverName: string;
  /** What a model or a person calls it. */
  readonly name: string;
  readonly nameOverride: string | undefined;
  /** The same under another name. */
  named(name: string): T;
}

export interface NamedItemsOptions<T> {
  /** The server's own name for it. */
  readonly ownName: (item: T) => string;
  readonly serverOrder?: readonly string[] | undefined;
  /** Servers that never take a bare name. */
  readonly alwaysQualified?: readonly string[] | undefined;
  readonly limit?: { readonly count: number; readonly reason: string };
}

export interface LeftOut {
  readonly server: string;
  readonly ownName: string;
  readonly reason: string;
}

export interface NamedItems<T> {
  /** The first of a pair stays. */
  add(item: T): void;
  /** All at once; if one does not fit, nothing changes. */
  replace(server: string, items: Iterable<T>): void;
  remove(server: string): void;
  /** The settings have another order now: it decides who keeps a bare name. */
  reorder(serverOrder: readonly string[], alwaysQualified: readonly string[]): void;
  /** Under their names. The same list as long as nothing changes. */
  all(): readonly T[];
  ofServer(server: string): readonly T[];
  get(name: string): T | undefined;
  find(server: string, ownName: string): T | undefined;
  leftOut(): readonly LeftOut[];
}

interface View<T> {
  readonly all: readonly T[];
  readonly byName: ReadonlyMap<string, T>;
  readonly byServer: ReadonlyMap<string, ReadonlyMap<string, T>>;
  readonly leftOut: readonly LeftOut[];
}

export function createNamedItems<T extends Nameable<T>>(options: NamedItemsOptions<T>): NamedItems<T> {
  const { ownName, serverOrder, limit } = options;
  const servers = createByServer<Map<string, T>>(serverOrder);
  let qualified = new Set(options.alwaysQualified);
  const copies = new WeakMap<T, T>();
  // Names depend on everything there is, and much may change before anyone asks.
  let view: View<T> | undefined;

  /** Whoever holds one keeps the same one as long as its name stays. */
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
    const leftOut: LeftOut[] = [];
    for (const [server, offered] of servers.inOrder()) {
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

  const current = (): View<T> => (view ??= build());

  return {
    add(item) {
      const offered = servers.get(item.serverName) ?? new Map<string, T>();
      if (offered.has(ownName(item))) return;
      servers.set(item.serverName, offered.set(ownName(item), item));
      view = undefined;
    },
    replace(server, items) {
      const offered = new Map<string, T>();
      for (const item of items) {
        if (item.serverName !== server)
          throw new HostError("usage", `"${ownName(item)}" belongs to "${item.serverName}", not to "${server}"`);
        if (!offered.has(ownName(item))) offered.set(ownName(item), item);
      }
      servers.set(server, offered);
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
