/** The open requests of one session, by their ids. */

import type { Exchange } from "./exchange.ts";
import { withStep } from "./rpc-errors.ts";

/** The number of slots at the start. It must be a power of two, because `id & (slots - 1)` selects the slot. */
const fewSlots = 32;

/**
 * The open requests. They are in an array, because a `Map` from which entries are often deleted keeps ended requests in
 * memory for a long time.
 */
export class OpenRequests {
  #slots: (Exchange | undefined)[] = emptySlots(fewSlots);
  #size = 0;
  #lastId = 0;
  /** The messages that are written together share one promise. `ids` are their requests. */
  #sending: { readonly sent: Promise<void>; readonly ids: number[] } | undefined;

  /** Adds a request. Returns its new id. */
  add(exchange: Exchange): number {
    if (this.#size * 2 >= this.#slots.length) this.#grow();
    const mask = this.#slots.length - 1;
    do this.#lastId += 1;
    while (this.#slots[this.#lastId & mask] !== undefined);
    exchange.id = this.#lastId;
    this.#slots[this.#lastId & mask] = exchange;
    this.#size += 1;
    return this.#lastId;
  }

  get size(): number {
    return this.#size;
  }

  get(id: number): Exchange | undefined {
    const found = this.#slots[id & (this.#slots.length - 1)];
    return found?.id === id ? found : undefined;
  }

  has(id: number): boolean {
    return this.get(id) !== undefined;
  }

  /** Removes the request with this id. Returns false if there is none. */
  delete(id: number): boolean {
    if (this.get(id) === undefined) return false;
    this.#slots[id & (this.#slots.length - 1)] = undefined;
    this.#size -= 1;
    return true;
  }

  /** Fails the request if `sent` rejects. Messages that are written together share one promise. */
  failWith(sent: Promise<void>, id: number): void {
    if (sent === this.#sending?.sent) {
      this.#sending.ids.push(id);
      return;
    }
    const ids = [id];
    this.#sending = { sent, ids };
    sent.catch((error: unknown) => {
      for (const each of ids) this.#fail(each, error);
    });
  }

  #fail(id: number, error: unknown): void {
    const exchange = this.get(id);
    if (exchange?.isFollowed === false && this.delete(id)) exchange.fail(withStep(error, exchange.method));
  }

  /** The open requests, oldest first. */
  values(): readonly Exchange[] {
    if (this.#size === 0) return none;
    return this.#slots.filter((exchange) => exchange !== undefined).sort((one, other) => one.id - other.id);
  }

  /** Removes all requests and returns them, oldest first. */
  clear(): readonly Exchange[] {
    const all = this.values();
    this.#slots.fill(undefined);
    this.#size = 0;
    return all;
  }

  #grow(): void {
    const all = this.values();
    this.#slots = emptySlots(this.#slots.length * 2);
    for (const exchange of all) this.#slots[exchange.id & (this.#slots.length - 1)] = exchange;
  }
}

const none: readonly Exchange[] = [];

function emptySlots(length: number): (Exchange | undefined)[] {
  return Array.from({ length }, () => undefined);
}
