/** Aborts one request, and calls functions when an `AbortSignal` aborts. */

import type { RequestStop } from "../session.ts";

const nothing = (): void => {};

/**
 * The abort state of one request. Creating an `AbortSignal` is slow and most requests need none, so `signal` creates
 * one only when it is read.
 */
export class RequestAbort implements RequestStop {
  #isAborted = false;
  #reason: unknown;
  #controller: AbortController | undefined;
  /** Most requests have only one callback. It is kept here, because creating a `Set` takes longer. */
  #first: (() => void) | undefined;
  #callbacks: Set<() => void> | undefined;
  #atEnd: (() => void) | undefined;

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
    this.#first?.();
    if (this.#callbacks !== undefined) for (const callback of this.#callbacks) callback();
  }

  /** Sets the function that `end` calls, after the request has its result or its error. */
  atEnd(callback: () => void): void {
    this.#atEnd = callback;
  }

  end(): void {
    this.#atEnd?.();
  }

  /** Calls a function once when the request is aborted. Returns the function that stops listening. */
  onAbort(callback: () => void): () => void {
    if (this.#first === undefined) {
      this.#first = callback;
      return () => {
        if (this.#first === callback) this.#first = undefined;
      };
    }
    this.#callbacks ??= new Set();
    this.#callbacks.add(callback);
    return () => void this.#callbacks?.delete(callback);
  }
}

/** Returns the `AbortSignal` of a request. */
export function signalOf(stop: AbortSignal | RequestStop): AbortSignal {
  return "onAbort" in stop ? stop.signal : stop;
}

/** Many requests share a signal. One listener calls all their callbacks, because adding a listener is slow. */
const lists = new WeakMap<AbortSignal, CallbackList>();

/**
 * A linked list, because a `Set` from which entries are often deleted keeps ended requests in memory for a long time.
 */
interface CallbackList {
  first: ListedCallback | undefined;
  last: ListedCallback | undefined;
  readonly listener: () => void;
}

interface ListedCallback {
  readonly callback: () => void;
  previous: ListedCallback | undefined;
  next: ListedCallback | undefined;
  isRemoved: boolean;
}

/**
 * Calls a function once when the signal aborts, or at once if the signal has already aborted. Returns the function that
 * stops listening.
 */
export function onAbort(signal: AbortSignal | RequestStop | undefined, callback: () => void): () => void {
  if (signal === undefined) return nothing;
  if (signal.aborted) {
    callback();
    return nothing;
  }
  if ("onAbort" in signal) return signal.onAbort(callback);
  const list = lists.get(signal) ?? listen(signal);
  const { last } = list;
  const added: ListedCallback = { callback, previous: last, next: undefined, isRemoved: false };
  if (last === undefined) list.first = added;
  else last.next = added;
  list.last = added;
  return () => {
    if (added.isRemoved) return;
    remove(added, list);
    if (list.first !== undefined) return;
    // A signal of `AbortSignal.any` or `AbortSignal.timeout` is not garbage-collected while it has a listener.
    signal.removeEventListener("abort", list.listener);
    lists.delete(signal);
  };
}

/** Clears the links of the removed callback, because they would keep other callbacks in memory. */
function remove(removed: ListedCallback, list: CallbackList): void {
  const { previous, next } = removed;
  if (previous === undefined) list.first = next;
  else previous.next = next;
  if (next === undefined) list.last = previous;
  else next.previous = previous;
  removed.isRemoved = true;
  removed.previous = undefined;
  removed.next = undefined;
}

function listen(signal: AbortSignal): CallbackList {
  const listener = (): void => {
    lists.delete(signal);
    for (let { first } = list; first !== undefined; { first } = list) {
      remove(first, list);
      first.callback();
    }
  };
  const list: CallbackList = { first: undefined, last: undefined, listener };
  lists.set(signal, list);
  signal.addEventListener("abort", listener, { once: true });
  return list;
}
