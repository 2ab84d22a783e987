/** Listens to an `AbortSignal` that many requests may share. */

const nothing = (): void => {};

/**
 * The abort controller of one request. It calls its callbacks itself, because adding and removing an event listener
 * costs as much as parsing a request.
 */
export class RequestAbort extends AbortController {
  readonly #callbacks = new Set<() => void>();

  constructor() {
    super();
    own.set(this.signal, this.#callbacks);
  }

  override abort(reason?: unknown): void {
    if (this.signal.aborted) return;
    super.abort(reason);
    for (const callback of this.#callbacks) callback();
  }
}

/** The callbacks of signals that belong to a `RequestAbort`. */
const own = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * The callbacks of all requests that share a signal. One listener calls all of them, because adding a listener is slow.
 */
const waiting = new WeakMap<AbortSignal, Waiting>();

interface Waiting {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

/**
 * Calls a function once when the signal aborts; at once if it has already aborted. Returns the function that stops
 * listening.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return nothing;
  if (signal.aborted) {
    callback();
    return nothing;
  }
  const direct = own.get(signal);
  if (direct !== undefined) {
    direct.add(callback);
    return () => void direct.delete(callback);
  }
  const { callbacks, listener } = waiting.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return;
    // The listener is removed, because a signal with a listener cannot be garbage-collected.
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
