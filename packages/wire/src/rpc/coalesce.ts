/** Turns a storm of the same news into a handful: the first at once, then only the latest, once a window. */

export interface Coalesced<T> {
  readonly push: (key: string, news: T) => void;
  /** Forgets what still waits. */
  readonly stop: () => void;
}

export function coalesce<T>(window: number, deliver: (news: T) => void): Coalesced<T> {
  const told = new Set<string>();
  const waiting = new Map<string, T>();
  let timer: NodeJS.Timeout | undefined;

  function push(key: string, news: T): void {
    if (told.has(key)) {
      waiting.set(key, news);
      return;
    }
    told.add(key);
    timer ??= setTimeout(nextWindow, window).unref();
    deliver(news);
  }

  function nextWindow(): void {
    const late = [...waiting];
    timer = undefined;
    told.clear();
    waiting.clear();
    for (const [key, news] of late) push(key, news);
  }

  return { push, stop: () => clearTimeout(timer) };
}
