/** Something kept for each server, in the order of the settings, whatever order servers arrive in. */

export interface ByServer<T> {
  get(server: string): T | undefined;
  set(server: string, value: T): void;
  delete(server: string): void;
  /** Servers that the settings do not know come last, in the order in which they first came. */
  inOrder(): readonly (readonly [server: string, value: T])[];
}

export function createByServer<T>(serverOrder: readonly string[] = []): ByServer<T> {
  const values = new Map<string, T>();
  // Never forgotten: a server that comes back has its old place.
  const ranks = new Map(serverOrder.map((server, rank) => [server, rank]));
  const rankOf = (server: string): number => ranks.get(server) ?? Number.POSITIVE_INFINITY;
  return {
    get: (server) => values.get(server),
    set(server, value) {
      if (!ranks.has(server)) ranks.set(server, serverOrder.length + ranks.size);
      values.set(server, value);
    },
    delete: (server) => void values.delete(server),
    inOrder: () => [...values].sort(([a], [b]) => rankOf(a) - rankOf(b)),
  };
}
