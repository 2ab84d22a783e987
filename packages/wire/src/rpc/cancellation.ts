/** How a transport learns that nobody waits for an exchange any more; an AbortSignal for every small exchange costs a fifth of it. */

import { onAbort } from "./abort.ts";

export interface Cancellation {
  readonly isCancelled: boolean;
  /** Calls back once; returns the function that stops listening. */
  onCancel(callback: () => void): () => void;
  /** Made when it is asked for. */
  readonly signal: AbortSignal;
}

export function cancellationOf(signal: AbortSignal): Cancellation {
  return {
    get isCancelled() {
      return signal.aborted;
    },
    onCancel: (callback) => onAbort(signal, callback),
    signal,
  };
}

/** What was given, without asking for a signal that would have to be made. */
export function cancellationIn(given: {
  readonly cancellation?: Cancellation;
  readonly signal?: AbortSignal;
}): Cancellation | undefined {
  return given.cancellation ?? (given.signal && cancellationOf(given.signal));
}
