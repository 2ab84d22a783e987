/** Tracks everything that a host is currently doing. Closing the host cancels it and waits until it has ended. */

import { setMaxListeners } from "node:events";
import type { RequestStop } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import { ClosingStop } from "./closing-stop.ts";

type Stoppable = Pick<AbortController, "abort">;

/** The running work of one host. After `close`, no work can begin. */
export interface OpenWork {
  /**
   * Runs `work` with a signal. The signal is aborted when the caller's signal is aborted or the host is closed. Without
   * a caller's signal, `work` gets `closing` itself: a new controller would take as long as sending the call.
   *
   * @throws HostError `usage` once the host is closed
   */
  run<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Counts a request as running until `leave`. `close` aborts `stop`, if present.
   *
   * @throws HostError `usage` once the host is closed
   */
  enter(stop: Stoppable | undefined): void;
  /** Ends what `enter` began. Pass the same `stop`. */
  leave(stop: Stoppable | undefined): void;
  /** Like `closing`, but faster. For requests whose callers gave no signal. */
  readonly closingStop: RequestStop;
  /** A signal that is aborted when the host is closed. */
  readonly closing: AbortSignal;
  readonly throwIfClosed: () => void;
  /** Cancels all running work. Resolves when all of it has ended. */
  close(): Promise<void>;
}

/** Creates the object that tracks a host's running work. */
export function createOpenWork(): OpenWork {
  const closing = new ClosingStop();
  /** `close` aborts these. */
  const stops = new Set<Stoppable>();
  let running = 0;
  /** Called when nothing is running any more. */
  const onIdle: (() => void)[] = [];

  function enter(stop: Stoppable | undefined): void {
    throwIfClosed();
    running += 1;
    if (stop !== undefined) stops.add(stop);
  }

  function leave(stop: Stoppable | undefined): void {
    if (stop !== undefined) stops.delete(stop);
    running -= 1;
    if (running === 0) for (const resolve of onIdle) resolve();
  }

  async function counted<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    throwIfClosed();
    const followed = signal && follow(signal);
    enter(followed?.stop);
    try {
      return await work(followed?.stop.signal ?? closing.signal);
    } finally {
      followed?.leave();
      leave(followed?.stop);
    }
  }

  function throwIfClosed(): void {
    if (closing.aborted) throw new HostError("usage", "this host has been closed");
  }

  return {
    closing: closing.signal,
    throwIfClosed,
    closingStop: closing,
    enter,
    leave,
    run(work, signal) {
      const running = counted(work, signal);
      // If the caller awaits the promise only later, Node would report an unhandled rejection and end the process.
      running.catch(() => {});
      return running;
    },
    async close() {
      const reason = new HostError("cancelled", "the host was closed");
      closing.abort(reason);
      for (const stop of stops) stop.abort(reason);
      if (running > 0) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
  };
}

/** Creates a controller that is aborted when `signal` is. Call `leave` to stop following `signal`. */
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
