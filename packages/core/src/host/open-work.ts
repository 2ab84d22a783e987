/** Tracks all running work of a host. Closing the host cancels the work and waits for its end. */

import { setMaxListeners } from "node:events";
import { HostError } from "../errors.ts";

/** An object that can abort running work. */
type Stoppable = Pick<AbortController, "abort">;

/** The running work of one host. After `close`, no work can begin. */
export interface OpenWork {
  /**
   * Runs `work` with a signal that is aborted when the caller's signal is aborted or the host is closed. If the caller
   * has no signal, `work` gets `closing` itself, because an abort controller for each call would cost as much as
   * sending the call.
   *
   * @throws HostError `usage` once the host is closed
   */
  run<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Runs `work`, which the caller can cancel through its `stop` object. `close` aborts that object too.
   *
   * @throws HostError `usage` once the host is closed
   */
  runStopped<T, Stop extends Stoppable>(work: (stop: Stop) => Promise<T>, stop: Stop): Promise<T>;
  /** A signal that is aborted when the host is closed. */
  readonly closing: AbortSignal;
  readonly throwIfClosed: () => void;
  /** Cancels all running work. Resolves when all of it has ended. */
  close(): Promise<void>;
}

/** Creates the object that tracks a host's running work. */
export function createOpenWork(): OpenWork {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  /** The objects through which `close` aborts running work. */
  const stops = new Set<Stoppable>();
  let running = 0;
  /** The functions to call when the last running work has ended. */
  const onIdle: (() => void)[] = [];

  function counted<T>(started: Promise<T>, leave: () => void): Promise<T> {
    running += 1;
    const end = (): void => {
      leave();
      running -= 1;
      if (running === 0) for (const resolve of onIdle) resolve();
    };
    started.then(end, end);
    return started;
  }

  function throwIfClosed(): void {
    if (closing.signal.aborted) throw new HostError("usage", "this host has been closed");
  }

  return {
    closing: closing.signal,
    throwIfClosed,
    run(work, signal) {
      try {
        throwIfClosed();
        if (signal === undefined) return counted(work(closing.signal), nothing);
        const { stop, leave } = follow(signal);
        const started = work(stop.signal);
        stops.add(stop);
        return counted(started, () => {
          leave();
          stops.delete(stop);
        });
      } catch (error) {
        return Promise.reject(error);
      }
    },
    runStopped(work, stop) {
      try {
        throwIfClosed();
        const started = work(stop);
        stops.add(stop);
        return counted(started, () => void stops.delete(stop));
      } catch (error) {
        return Promise.reject(error);
      }
    },
    async close() {
      const reason = new HostError("cancelled", "the host was closed");
      closing.abort(reason);
      for (const stop of stops) stop.abort(reason);
      if (running > 0) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
  };
}

const nothing = (): void => {};

/** A controller that is aborted together with `signal`, until `leave` is called. */
function follow(signal: AbortSignal): { readonly stop: AbortController; readonly leave: () => void } {
  const stop = new AbortController();
  const abort = (): void => stop.abort(signal.reason);
  if (signal.aborted) abort();
  // Allows any number of listeners, because many requests may share one signal.
  setMaxListeners(0, signal);
  signal.addEventListener("abort", abort, { once: true });
  return { stop, leave: () => signal.removeEventListener("abort", abort) };
}

/** Returns a function that calls `make` once. Later calls return the same promise. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
