/** Values by server, in the order of the settings. */

/** Values by server name. */
export interface ByServer<T> {
  get(server: string): T | undefined;
  set(server: string, value: T): void;
  delete(server: string): void;
  /** Sets a new order of servers. */
  reorder(serverOrder: readonly string[]): void;
  /** All values in order. Servers that the settings do not name come last, in the order of their first arrival. */
  inOrder(): readonly (readonly [server: string, value: T])[];
}

/** Creates an empty map with an order of servers. */
export function createByServer<T>(serverOrder: readonly string[] = []): ByServer<T> {
  const values = new Map<string, T>();
  let ranks = ranksOf(serverOrder);
  // Never removed: a server that comes back keeps its position.
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
