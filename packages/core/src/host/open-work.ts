/** Everything that a host has under way: `close` cancels it and waits for its end, and nothing begins after that. */

import { setMaxListeners } from "node:events";
import { HostError } from "../errors.ts";

export interface OpenWork {
  /**
   * Runs `work` with a signal that is aborted by the caller's own signal or by `close`.
   * @throws HostError `usage` once the host is closed
   */
  run<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Aborted when the host is closed. */
  readonly closing: AbortSignal;
  readonly throwIfClosed: () => void;
  /** Cancels what is under way; resolves when all of it has ended. */
  close(): Promise<void>;
}

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
      // What ends may have begun something else before it saw the signal.
      while (open.size > 0) {
        const ends = Promise.allSettled(open.values());
        for (const stop of open.keys()) stop.abort(reason);
        await ends;
      }
    },
  };
}
