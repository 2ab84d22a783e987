/** Listens to an `AbortSignal` that many requests may share. */

const nothing = (): void => {};

/** The callbacks of all requests that wait with a signal: one listener calls them, because adding one is slow. */
const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * The signal whose last request ended last. Its listener stays until another signal's does: a program that sends one
 * request after another with the same signal would add and remove a listener for each.
 */
let idle: { readonly signal: AbortSignal; readonly listener: () => void } | undefined;

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
    if (idle?.signal === signal) return;
    if (idle) stopListening(idle.signal, idle.listener);
    idle = { signal, listener };
  };
}

/** A signal that is listened to cannot be collected. */
function stopListening(signal: AbortSignal, listener: () => void): void {
  if (waiting.get(signal)?.callbacks.size !== 0) return;
  signal.removeEventListener("abort", listener);
  waiting.delete(signal);
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
