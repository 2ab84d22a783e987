/**
 * Tells a transport that a request was cancelled. An `AbortSignal` for each request would make a small request 20 %
 * slower.
 */

import { onAbort } from "./abort.ts";

/** The part of an `AbortSignal` that transports need; creates the signal itself only on demand. */
export interface Cancellation {
  readonly isCancelled: boolean;
  /** Calls back once on cancellation; returns the function that stops listening. */
  onCancel(callback: () => void): () => void;
  /** The abort signal, created when it is first read. */
  readonly signal: AbortSignal;
}

/** A cancellation that follows a signal. */
export function cancellationOf(signal: AbortSignal): Cancellation {
  return {
    get isCancelled() {
      return signal.aborted;
    },
    onCancel: (callback) => onAbort(signal, callback),
    signal,
  };
}

/** Returns the given cancellation, or one for the signal. Reads `signal` only if necessary: reading may create it. */
export function cancellationIn(given: {
  readonly cancellation?: Cancellation;
  readonly signal?: AbortSignal;
}): Cancellation | undefined {
  return given.cancellation ?? (given.signal && cancellationOf(given.signal));
}
