/** Limits how often values with the same key are delivered: the first at once, then the latest of each time window. */

/** Accepts values, and delivers them at a limited rate. */
export interface Coalesced<T> {
  readonly push: (key: string, value: T) => void;
  /** Delivers the values that wait for the end of their window. */
  readonly flush: () => void;
  /** Drops the values that are not delivered yet. */
  readonly stop: () => void;
}

/** Delivers values with the same key at most once in `window` milliseconds. */
export function coalesce<T>(window: number, deliver: (value: T) => void): Coalesced<T> {
  const delivered = new Set<string>();
  const waiting = new Map<string, T>();
  let timer: NodeJS.Timeout | undefined;

  function push(key: string, value: T): void {
    if (delivered.has(key)) {
      waiting.set(key, value);
      return;
    }
    delivered.add(key);
    timer ??= setTimeout(nextWindow, window).unref();
    deliver(value);
  }

  function nextWindow(): void {
    const late = [...waiting];
    timer = undefined;
    delivered.clear();
    waiting.clear();
    for (const [key, value] of late) push(key, value);
  }

  function flush(): void {
    if (waiting.size === 0) return;
    const late = [...waiting.values()];
    waiting.clear();
    for (const value of late) deliver(value);
  }

  return { push, flush, stop: () => clearTimeout(timer) };
}
