/** The latest events of a host, numbered. Each reader of the stream has its own place in it. */

import type { ConsoleEvent } from "../../protocol/events.ts";

export interface RingLimits {
  readonly events: number;
  readonly bytes: number;
}

const defaultLimits: RingLimits = { events: 20_000, bytes: 16 * 1024 * 1024 };

/** The events after a number, as the stream sends them. */
export interface ReadEvents {
  readonly chunk: Buffer;
  /** The number of the last event in `chunk`. */
  readonly last: number;
}

/** Numbers events from 1, and keeps the latest. */
export class EventRing {
  readonly #limits: RingLimits;
  /** The event with number `#first + index`, from index `#removed` on. */
  #lines: (Buffer | undefined)[] = [];
  #removed = 0;
  #first = 1;
  #bytes = 0;
  readonly #listeners = new Set<() => void>();

  constructor(limits: Partial<RingLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** The number of the latest event; 0 if there was none. */
  get last(): number {
    return this.#first + this.#lines.length - 1;
  }

  /** Whether every event after this number is still there. */
  has(number: number): boolean {
    return number <= this.last && number >= this.#first + this.#removed - 1;
  }

  add(event: ConsoleEvent): void {
    const line = eventLine(this.last + 1, event);
    this.#lines.push(line);
    this.#bytes += line.length;
    while (this.#lines.length - this.#removed > this.#limits.events || this.#bytes > this.#limits.bytes)
      this.#removeOldest();
    for (const listener of this.#listeners) listener();
  }

  /**
   * Reads the events after a number that `has` confirms, at least one and at most about this many bytes. Undefined if there
   * are none.
   */
  after(number: number, bytes: number): ReadEvents | undefined {
    const begin = number + 1 - this.#first;
    const lines: Buffer[] = [];
    let size = 0;
    for (let at = begin; at < this.#lines.length && (lines.length === 0 || size < bytes); at += 1) {
      const line = this.#lines[at];
      if (line === undefined) break;
      lines.push(line);
      size += line.length;
    }
    if (lines.length === 0) return undefined;
    return { chunk: Buffer.concat(lines, size), last: number + lines.length };
  }

  /** Calls `listener` after each new event. Returns the function that stops this. */
  onEvent(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #removeOldest(): void {
    this.#bytes -= this.#lines[this.#removed]?.length ?? 0;
    this.#lines[this.#removed] = undefined;
    this.#removed += 1;
    // To move all later lines for each removed one would take too long.
    if (this.#removed < 1024 || this.#removed * 2 < this.#lines.length) return;
    this.#lines = this.#lines.slice(this.#removed);
    this.#first += this.#removed;
    this.#removed = 0;
  }
}

/** An event as the stream sends it. */
export function eventLine(number: number, event: ConsoleEvent): Buffer {
  return Buffer.from(`id: ${number}\ndata: ${JSON.stringify(event)}\n\n`);
}
