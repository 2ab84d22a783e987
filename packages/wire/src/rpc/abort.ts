/** Aborts single requests, and listens to an `AbortSignal` that many requests may share. */

import type { RequestStop } from "../session.ts";

const nothing = (): void => {};

/**
 * The abort state of one request, with the members of an `AbortSignal` that most requests need. Creating an
 * `AbortSignal` costs more than parsing, deciding and sending a request, so `signal` creates one only when it is read.
 */
export class RequestAbort implements RequestStop {
  #isAborted = false;
  #reason: unknown;
  #controller: AbortController | undefined;
  #callbacks: Set<() => void> | undefined;

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason;
  }

  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    if (this.#callbacks !== undefined) for (const callback of this.#callbacks) callback();
  }

  /** Calls a function once when the request is aborted. Returns the function that stops listening. */
  onAbort(callback: () => void): () => void {
    this.#callbacks ??= new Set();
    this.#callbacks.add(callback);
    return () => void this.#callbacks?.delete(callback);
  }
}

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
export function onAbort(signal: AbortSignal | RequestStop | undefined, callback: () => void): () => void {
  if (signal === undefined) return nothing;
  if (signal.aborted) {
    callback();
    return nothing;
  }
  if ("onAbort" in signal) return signal.onAbort(callback);
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
