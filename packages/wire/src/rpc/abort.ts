/** Aborts single requests, and listens to an `AbortSignal` that many requests may share. */

import type { RequestStop } from "../session.ts";

const nothing = (): void => {};

/**
 * The abort state of one request, with the members of an `AbortSignal` that most requests need. Creating an
 * `AbortSignal` takes longer than the rest of the work on a request, so `signal` creates one only when it is read.
 */
export class RequestAbort implements RequestStop {
  #isAborted = false;
  #reason: unknown;
  #controller: AbortController | undefined;
  /** The first callback. Most requests have only one, and a `Set` for it would take longer to create. */
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

  /** Sets the function to call when the request has its result or its error. */
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

/** The callbacks of all requests that share a signal. One listener calls all of them, because adding a listener is slow. */
const lists = new WeakMap<AbortSignal, CallbackList>();

/**
 * The callbacks of one signal. A linked list, not a `Set`: when callbacks come and go, a `Set` replaces its table again
 * and again, and the replaced tables keep ended requests in memory until the next full garbage collection.
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
    // The listener is removed, because a signal with a listener cannot be garbage-collected.
    signal.removeEventListener("abort", list.listener);
    lists.delete(signal);
  };
}

/** Removes a callback from the list. Also clears its links, because they would keep other callbacks in memory. */
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
