/**
 * Tells a transport that a request was cancelled. Uses no `AbortSignal`, because creating one makes a small request 20
 * % slower.
 */

import { onAbort } from "./abort.ts";

/** The part of an `AbortSignal` that transports need. The signal itself is created only on demand. */
export interface Cancellation {
  readonly isCancelled: boolean;
  /** Calls a function once on cancellation. Returns the function that stops listening. */
  onCancel(callback: () => void): () => void;
  /** The abort signal, created when it is first read. */
  readonly signal: AbortSignal;
}

/** Creates a cancellation that takes place when the signal aborts. */
export function cancellationOf(signal: AbortSignal): Cancellation {
  return {
    get isCancelled() {
      return signal.aborted;
    },
    onCancel: (callback) => onAbort(signal, callback),
    signal,
  };
}

/**
 * Returns the given cancellation, or creates one for the signal. Reads `signal` only if necessary, because reading it
 * may create an `AbortSignal`.
 */
export function cancellationIn(given: {
  readonly cancellation?: Cancellation;
  readonly signal?: AbortSignal;
}): Cancellation | undefined {
  return given.cancellation ?? (given.signal && cancellationOf(given.signal));
}
