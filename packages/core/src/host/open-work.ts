/** Tracks everything that a host is doing, so that closing the host can cancel it and wait for its end. */

import { setMaxListeners } from "node:events";
import { HostError } from "../errors.ts";

/** The running work of one host. After `close` no work can begin. */
export interface OpenWork {
  /**
   * Runs `work` with a signal that is aborted by the caller's own signal or by `close`.
   *
   * @throws HostError `usage` once the host is closed
   */
  run<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Aborted when the host is closed. */
  readonly closing: AbortSignal;
  readonly throwIfClosed: () => void;
  /** Cancels all running work; resolves when it has ended. */
  close(): Promise<void>;
}

/** Creates an empty record of running work. */
export function createOpenWork(): OpenWork {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const open = new Map<AbortController, Promise<unknown>>();

  function throwIfClosed(): void {
    if (closing.signal.aborted) throw new HostError("usage", "this host has been closed");
  }

  return {
    closing: closing.signal,
    throwIfClosed,
    async run(work, signal) {
      throwIfClosed();
      const stop = new AbortController();
      const abort = (): void => stop.abort(signal?.reason);
      if (signal?.aborted) abort();
      // Many requests may share one signal: Node takes more than ten listeners for a leak.
      if (signal) setMaxListeners(0, signal);
      signal?.addEventListener("abort", abort, { once: true });
      const running = work(stop.signal);
      open.set(stop, running);
      try {
        return await running;
      } finally {
        signal?.removeEventListener("abort", abort);
        open.delete(stop);
      }
    },
    async close() {
      const reason = new HostError("cancelled", "the host was closed");
      closing.abort(reason);
      // Work that ends may have begun other work before it saw the signal.
      while (open.size > 0) {
        const ends = Promise.allSettled(open.values());
        for (const stop of open.keys()) stop.abort(reason);
        await ends;
      }
    },
  };
}

/** Returns a function that calls `make` the first time and returns the same promise after that. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
