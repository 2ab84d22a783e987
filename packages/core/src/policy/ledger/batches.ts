/** Writes items in batches, because to write one alone takes about as long as to write hundreds together. */

import type { Clock } from "../../clock.ts";

/** How items are collected. */
export interface BatchLimits {
  /** A batch with this many items is written, and another one begins. */
  readonly items: number;
  /** How many batches are written at the same time. Meanwhile the next one fills itself. */
  readonly parallel: number;
  /** A batch collects items for so long. Absent: it is written at once, unless `parallel` others are being written. */
  readonly delay?: { readonly clock: Clock; readonly milliseconds: number };
}

/** Collects items and writes them in batches, in their order. A batch that fails does not stop the next one. */
export class Batches<Item> {
  readonly #write: (items: readonly Item[]) => Promise<void>;
  readonly #limits: BatchLimits;
  /** The batch that collects items now. */
  #next: Batch<Item> | undefined;
  /** Batches that collect no more and wait for their turn. */
  readonly #due: Batch<Item>[] = [];
  readonly #running = new Set<Batch<Item>>();

  /** @param write Resolves when all items are stored. Rejects if they are not. */
  constructor(write: (items: readonly Item[]) => Promise<void>, limits: BatchLimits) {
    this.#write = write;
    this.#limits = limits;
  }

  /** Resolves when the item is stored. All items of a batch have the same promise. */
  add(item: Item): Promise<void> {
    this.#next ??= this.#begin();
    const batch = this.#next;
    batch.items.push(item);
    if (batch.items.length >= this.#limits.items) this.#end(batch);
    return batch.written;
  }

  /** Writes everything now. Resolves when all items are stored or have failed. */
  async flush(): Promise<void> {
    if (this.#next !== undefined) this.#end(this.#next);
    await Promise.allSettled([...this.#running, ...this.#due].map(({ written }) => written));
  }

  #begin(): Batch<Item> {
    const { delay } = this.#limits;
    const batch = createBatch<Item>();
    if (delay !== undefined) batch.cancelTimer = delay.clock.after(delay.milliseconds, () => this.#end(batch));
    // Items that are added in the same turn share the batch.
    else queueMicrotask(() => this.#startNext());
    return batch;
  }

  /** The batch collects no more. */
  #end(batch: Batch<Item>): void {
    if (this.#next === batch) this.#next = undefined;
    batch.cancelTimer();
    this.#due.push(batch);
    this.#startNext();
  }

  #startNext(): void {
    if (this.#running.size >= this.#limits.parallel) return;
    const batch = this.#due.shift() ?? (this.#limits.delay === undefined ? this.#next : undefined);
    if (batch === undefined) return;
    if (this.#next === batch) this.#next = undefined;
    this.#running.add(batch);
    const ended = (settle: () => void) => {
      this.#running.delete(batch);
      settle();
      this.#startNext();
    };
    this.#write(batch.items).then(
      () => ended(batch.resolve),
      (error: unknown) => ended(() => batch.reject(error)),
    );
  }
}

interface Batch<Item> {
  readonly items: Item[];
  readonly written: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  cancelTimer: () => void;
}

function createBatch<Item>(): Batch<Item> {
  let resolve: () => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const written = new Promise<void>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  return { items: [], written, resolve, reject, cancelTimer: () => undefined };
}
