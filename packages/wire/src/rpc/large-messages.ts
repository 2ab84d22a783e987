/**
 * Limits how many bytes of large messages a program holds at the same time. A large message takes several times its
 * size while it is read, parsed and passed on. Without a limit, eight servers that answer at once take that memory
 * eight times.
 */

import { systemTime, type TimeSource } from "./time.ts";

/** A message with fewer bytes never waits. */
const smallestLarge = 128 * 1024;
/** A message keeps the first place for this many milliseconds while others wait. Its server may have stopped sending. */
const firstPlaceTime = 2000;

export interface LargeMessagesOptions {
  /** While large messages together have so many bytes, only the first of them is read on. Default: 8 MB. */
  readonly limit?: number;
  readonly time?: TimeSource | undefined;
}

/**
 * The large messages that have not been handled. Share one object among the connections whose memory is to be limited
 * together.
 */
export class LargeMessages {
  readonly #limit: number;
  readonly #time: TimeSource;
  /** The bytes of each large message, also of those without a place. */
  readonly #held = new Map<HeldMessage, number>();
  #bytes = 0;
  /** The large messages with a place, in the order in which they got it. The first one never waits. */
  readonly #inOrder = new Set<HeldMessage>();
  readonly #waiting = new Map<HeldMessage, () => void>();
  #timed: HeldMessage | undefined;
  #stopTimer: () => void = () => {};

  constructor({ limit = 8 * 1024 * 1024, time = systemTime }: LargeMessagesOptions = {}) {
    this.#limit = limit;
    this.#time = time;
  }

  /** The bytes of all large messages that have arrived and are not handled. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the count of a message that begins to arrive. */
  begin(): HeldMessage {
    const message: HeldMessage = {
      hold: (bytes) => this.#hold(message, bytes),
      turn: () => this.#turn(message),
      release: () => this.#release(message),
    };
    return message;
  }

  #hold(message: HeldMessage, bytes: number): void {
    if (bytes < smallestLarge) {
      this.#release(message);
      return;
    }
    this.#bytes += bytes - (this.#held.get(message) ?? 0);
    this.#held.set(message, bytes);
    // A message that has lost its place gets the last one when its server sends again.
    this.#inOrder.add(message);
  }

  #turn(message: HeldMessage): Promise<void> | undefined {
    if (!this.#mustWait(message)) return undefined;
    return new Promise((resolve) => {
      this.#waiting.set(message, resolve);
      this.#timeFirst();
    });
  }

  #release(message: HeldMessage): void {
    const bytes = this.#held.get(message);
    if (bytes === undefined) return;
    this.#held.delete(message);
    this.#bytes -= bytes;
    this.#inOrder.delete(message);
    this.#wake();
  }

  #mustWait(message: HeldMessage): boolean {
    return this.#bytes >= this.#limit && this.#inOrder.has(message) && message !== this.#first();
  }

  #first(): HeldMessage | undefined {
    const [first] = this.#inOrder;
    return first;
  }

  #wake(): void {
    for (const [message, resume] of this.#waiting) {
      if (this.#mustWait(message)) continue;
      this.#waiting.delete(message);
      resume();
    }
    this.#timeFirst();
  }

  /** While messages wait, takes the first place from a message that does not end in time. */
  #timeFirst(): void {
    const first = this.#waiting.size === 0 ? undefined : this.#first();
    if (first === this.#timed) return;
    this.#stopTimer();
    this.#timed = first;
    if (first === undefined) return;
    const take = (): void => {
      this.#inOrder.delete(first);
      this.#wake();
    };
    this.#stopTimer = this.#time.after(firstPlaceTime, take, { background: true });
  }
}

/** A message that is being read or handled. */
export interface HeldMessage {
  /** Counts the bytes that have arrived so far. */
  hold(bytes: number): void;
  /** If the rest of the message must wait, returns a promise that resolves when it may be read. */
  turn(): Promise<void> | undefined;
  /** Call this when the message was handled, or will never be complete. Also ends its waiting. */
  release(): void;
}
