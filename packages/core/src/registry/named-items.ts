/** Gives the tools or prompts of all servers unique names. `RegisteredTools` and `PromptRegistry` share this code. */

import { HostError } from "../errors.ts";
import { anObject, expectArguments } from "../expect-arguments.ts";
import { createNaming } from "../normalise/tool-name.ts";
import { runAtOnce, runInTurns, type Sliced } from "../text/turns.ts";

/** A tool or prompt that can be renamed. */
export interface Nameable<T> {
  readonly serverName: string;
  /** The name that a model or the user uses. */
  readonly name: string;
  readonly nameOverride: string | undefined;
  /** Returns the same tool or prompt under the given name. */
  named(name: string): T;
}

/** The order of servers, and the maximum number of tools or prompts for each server. */
export interface NamedItemsOptions<T> {
  /** The name that the server gives the tool or prompt. */
  readonly ownName: (item: T) => string;
  readonly serverOrder?: readonly string[] | undefined;
  /** The servers whose name is always part of the names of their tools and prompts. */
  readonly alwaysQualified?: readonly string[] | undefined;
  readonly limit?: { readonly count: number; readonly reason: string };
}

/** A tool or prompt that has no name in the registry, with the reason. */
export interface UnnamedItem {
  readonly server: string;
  readonly ownName: string;
  readonly reason: string;
}

/** The tools, or the prompts, of all servers, each under a unique name. */
export interface NamedItems<T> {
  /** Adds a tool or prompt. If the server already has a tool or prompt with this name, nothing changes. */
  add(item: T): void;
  /**
   * Replaces all tools or prompts of a server. If one of them does not belong to the server, nothing changes. If
   * `items` is a function, it is called only when the tools or prompts are needed.
   */
  replace(server: string, items: Iterable<T> | (() => Iterable<T>)): void;
  remove(server: string): void;
  /**
   * Sets a new order of servers. If several tools or prompts have the same name, the first server's tool or prompt
   * keeps the name.
   */
  reorder(serverOrder: readonly string[], alwaysQualified: readonly string[]): void;
  /**
   * Names all tools or prompts in small steps, so that other code can run in between. Without this call, the next use
   * names all of them in one step.
   */
  ready(): Promise<void>;
  /** All tools or prompts under their names. Returns the same array until one of them changes. */
  all(): readonly T[];
  ofServer(server: string): readonly T[];
  get(name: string): T | undefined;
  find(server: string, ownName: string): T | undefined;
  leftOut(): readonly UnnamedItem[];
}

/** The number of tools or prompts that are named in one step. A step takes a few milliseconds. */
const itemsPerSlice = 250;
/** Maximum number of attempts of `ready` to name all tools or prompts. An attempt fails if they change meanwhile. */
const mostTries = 3;

interface ServerItems<T> {
  readonly items: () => Iterable<T>;
  /** The tools or prompts by the names that the server gives them; undefined until they are first needed. */
  made: Map<string, T> | undefined;
}

interface View<T> {
  readonly all: readonly T[];
  readonly byName: ReadonlyMap<string, T>;
  readonly byServer: ReadonlyMap<string, ReadonlyMap<string, T>>;
  readonly leftOut: readonly UnnamedItem[];
}

/** Creates an empty collection, without tools or prompts. */
export function createNamedItems<T extends Nameable<T>>(options: NamedItemsOptions<T>): NamedItems<T> {
  const { ownName, serverOrder, limit } = options;
  const servers = createByServer<ServerItems<T>>(serverOrder);
  let qualified = new Set(options.alwaysQualified);
  const copies = new WeakMap<T, T>();
  // All tools or prompts under their names. Computed when needed, because each name depends on all tools or prompts.
  let view: View<T> | undefined;
  let version = 0;

  /** Returns the item if it already has this name, otherwise a copy. The next call returns the same copy. */
  function rename(item: T, name: string): T {
    if (item.name === name) return item;
    const lastCopy = copies.get(item);
    if (lastCopy?.name === name) return lastCopy;
    const copy = item.named(name);
    copies.set(item, copy);
    return copy;
  }

  function* build(): Sliced<View<T>> {
    const all: T[] = [];
    const byName = new Map<string, T>();
    const byServer = new Map<string, Map<string, T>>();
    const leftOut: UnnamedItem[] = [];
    const nameOf = createNaming({ isAlwaysQualified: (server) => qualified.has(server) });
    for (const [server, listed] of servers.inOrder()) {
      const offered = yield* itemsOf(server, listed);
      const named = new Map<string, T>();
      const most = limit?.count ?? offered.size;
      for (const [own, item] of offered) {
        const reason = own === "" ? "it has no name" : named.size === most ? limit?.reason : undefined;
        if (reason === undefined) {
          const renamed = rename(item, nameOf({ server: item.serverName, name: own, wish: item.nameOverride }));
          all.push(renamed);
          byName.set(renamed.name, renamed);
          byServer.set(server, named.set(own, renamed));
        } else leftOut.push({ server, ownName: own, reason });
        if ((all.length + leftOut.length) % itemsPerSlice === 0) yield;
      }
    }
    return { all, byName, byServer, leftOut };
  }

  /** @throws HostError `usage` if a tool or prompt does not belong to the server */
  function* byOwnName(server: string, items: Iterable<T>): Sliced<Map<string, T>> {
    const offered = new Map<string, T>();
    let count = 0;
    for (const item of items) {
      count += 1;
      if (count % itemsPerSlice === 0) yield;
      expectArguments("replaceServer()", { "each item": [item, anObject] });
      if (item.serverName !== server)
        throw new HostError("usage", `"${ownName(item)}" belongs to "${item.serverName}", not to "${server}"`);
      if (!offered.has(ownName(item))) offered.set(ownName(item), item);
    }
    return offered;
  }

  function* itemsOf(server: string, listed: ServerItems<T>): Sliced<Map<string, T>> {
    if (listed.made !== undefined) return listed.made;
    const made = yield* byOwnName(server, listed.items());
    listed.made ??= made;
    return listed.made;
  }

  const current = (): View<T> => (view ??= runAtOnce(build()));

  function changed(): void {
    view = undefined;
    version += 1;
  }

  return {
    add(item) {
      const registered = servers.get(item.serverName);
      const offered = registered === undefined ? new Map<string, T>() : runAtOnce(itemsOf(item.serverName, registered));
      if (offered.has(ownName(item))) return;
      offered.set(ownName(item), item);
      servers.set(item.serverName, { items: () => [], made: offered });
      changed();
    },
    replace(server, items) {
      if (typeof items === "function") servers.set(server, { items, made: undefined });
      else servers.set(server, { items: () => items, made: runAtOnce(byOwnName(server, items)) });
      changed();
    },
    remove(server) {
      servers.delete(server);
      changed();
    },
    reorder(order, alwaysQualified) {
      servers.reorder(order);
      qualified = new Set(alwaysQualified);
      changed();
    },
    async ready() {
      const isMade = (): boolean => view !== undefined;
      for (let tries = 0; !isMade() && tries < mostTries; tries += 1) {
        const begun = version;
        const built = await runInTurns(build(), () => version !== begun || isMade());
        if (version === begun) view ??= built;
      }
    },
    all: () => current().all,
    ofServer: (server) => [...(current().byServer.get(server)?.values() ?? [])],
    get: (name) => current().byName.get(name),
    find: (server, name) => current().byServer.get(server)?.get(name),
    leftOut: () => current().leftOut,
  };
}

/** A map from server names to values, in the order of the settings. */
export interface ByServer<T> {
  get(server: string): T | undefined;
  set(server: string, value: T): void;
  delete(server: string): void;
  reorder(serverOrder: readonly string[]): void;
  /**
   * All values in the order of the settings. Servers that the settings do not name come last, in the order in which
   * they first appeared.
   */
  inOrder(): readonly (readonly [server: string, value: T])[];
}

/** Values by server, in the order of the settings. */
export function createByServer<T>(serverOrder: readonly string[] = []): ByServer<T> {
  const values = new Map<string, T>();
  let ranks = ranksOf(serverOrder);
  /**
   * The position at which each server first appeared. A removed server stays here, so that it gets the same position
   * again.
   */
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
