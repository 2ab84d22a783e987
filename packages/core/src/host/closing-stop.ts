/** When the host is closed, cancels the requests whose callers gave no signal. */

import { setMaxListeners } from "node:events";
import type { RequestStop } from "@fairlead/wire";

/** A callback in the list of a `ClosingStop`. */
interface Waiting {
  readonly callback: () => void;
  previous: Waiting | undefined;
  next: Waiting | undefined;
}

/**
 * Works like an abort signal, but keeps its callbacks in a linked list. With an `AbortSignal`, a small call would be
 * about 10 % slower. A `Set` would keep ended requests in memory until the next full garbage collection.
 */
export class ClosingStop implements RequestStop {
  readonly #controller = new AbortController();
  /** The list is circular: `#ring.next` is the first callback, and `#ring.previous` the last. */
  readonly #ring: Waiting = { callback: () => {}, previous: undefined, next: undefined };

  constructor() {
    setMaxListeners(0, this.#controller.signal);
    this.#ring.previous = this.#ring;
    this.#ring.next = this.#ring;
  }

  get aborted(): boolean {
    return this.#controller.signal.aborted;
  }

  get reason(): unknown {
    return this.#controller.signal.reason;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  throwIfAborted(): void {
    this.#controller.signal.throwIfAborted();
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.#controller.abort(reason);
    for (let { next } = this.#ring; next !== undefined && next !== this.#ring; { next } = this.#ring) {
      remove(next);
      next.callback();
    }
  }

  onAbort(callback: () => void): () => void {
    const added: Waiting = { callback, previous: this.#ring.previous, next: this.#ring };
    if (this.#ring.previous !== undefined) this.#ring.previous.next = added;
    this.#ring.previous = added;
    return () => remove(added);
  }
}

function remove(removed: Waiting): void {
  const { previous, next } = removed;
  if (previous === undefined || next === undefined) return;
  previous.next = next;
  next.previous = previous;
  removed.previous = undefined;
  removed.next = undefined;
}
