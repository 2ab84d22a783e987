/** Work that several callers share. It is aborted when the last caller has aborted. */

/** Shared work. */
export interface SharedWork<T> {
  /** Starts the work or joins the running one. Rejects with the reason of `signal` when that aborts. */
  readonly join: (work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal) => Promise<T>;
}

interface Running<T> {
  readonly done: Promise<T>;
  readonly stop: AbortController;
  waiting: number;
}

/** Creates shared work that is not running. */
export function createSharedWork<T>(): SharedWork<T> {
  let running: Running<T> | undefined;

  function start(work: (signal: AbortSignal) => Promise<T>): Running<T> {
    const stop = new AbortController();
    const begun: Running<T> = {
      stop,
      waiting: 0,
      done: work(stop.signal).finally(() => {
        if (running === begun) running = undefined;
      }),
    };
    return begun;
  }

  return {
    async join(work, signal) {
      signal.throwIfAborted();
      running ??= start(work);
      const mine = running;
      mine.waiting += 1;
      let leave = (): void => {};
      const left = new Promise<never>((_, reject) => {
        leave = () => reject(signal.reason);
      });
      signal.addEventListener("abort", leave, { once: true });
      try {
        return await Promise.race([mine.done, left]);
      } finally {
        signal.removeEventListener("abort", leave);
        mine.waiting -= 1;
        if (mine.waiting === 0) {
          mine.stop.abort();
          // The last caller waits until the aborted work has ended.
          await Promise.allSettled([mine.done]);
        }
      }
    },
  };
}
