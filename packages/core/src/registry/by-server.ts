/** Something kept for each server, in the order of the settings, whatever order servers arrive in. */

export interface ByServer<T> {
  get(server: string): T | undefined;
  set(server: string, value: T): void;
  delete(server: string): void;
  /** The settings have another order now. */
  reorder(serverOrder: readonly string[]): void;
  /** Servers that the settings do not name come last, in the order in which they first came. */
  inOrder(): readonly (readonly [server: string, value: T])[];
}

export function createByServer<T>(serverOrder: readonly string[] = []): ByServer<T> {
  const values = new Map<string, T>();
  let ranks = ranksOf(serverOrder);
  // Never forgotten: a server that comes back has its old place.
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
