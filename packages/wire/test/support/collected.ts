/** Collects what a callback is told, and lets a test wait for it. */

export interface Collected<T> {
  readonly items: readonly T[];
  readonly add: (item: T) => void;
  /** Resolves when so many have come. */
  readonly reached: (count: number) => Promise<readonly T[]>;
}

export function collected<T>(): Collected<T> {
  const items: T[] = [];
  const waiting = new Set<() => void>();
  return {
    items,
    add(item) {
      items.push(item);
      for (const look of waiting) look();
    },
    reached: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (items.length < count) return;
          waiting.delete(look);
          resolve(items);
        };
        waiting.add(look);
        look();
      }),
  };
}

/** One turn of the loop: what was to happen at once has happened. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
