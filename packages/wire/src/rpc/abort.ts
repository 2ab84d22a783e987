/** Listens to an `AbortSignal` that many requests may share. */

const nothing = (): void => {};

/** The callbacks of all requests that share a signal: one listener calls them, because adding a listener is slow. */
const waiting = new WeakMap<AbortSignal, Waiting>();

interface Waiting {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

/** Calls back once when the signal is aborted, at once if it already is. Returns the function that stops listening. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return nothing;
  if (signal.aborted) {
    callback();
    return nothing;
  }
  const { callbacks, listener } = waiting.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return;
    // A signal with a listener cannot be garbage-collected.
    signal.removeEventListener("abort", listener);
    waiting.delete(signal);
  };
}

function listen(signal: AbortSignal): Waiting {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    for (const callback of callbacks) callback();
  };
  const added = { callbacks, listener };
  waiting.set(signal, added);
  signal.addEventListener("abort", listener, { once: true });
  return added;
}
