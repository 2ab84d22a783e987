/** Time: a clock that a test can replace, waiting for a limited time, and the clock of request timeouts. */

/** A clock that is passed as a parameter, so that a test can decide when time passes. */
export interface TimeSource {
  /** Returns milliseconds since a fixed moment in the past. The value never decreases. */
  readonly now: () => number;
  /**
   * Runs `action` after `milliseconds`, unless the returned function is called first. A `background` timer does not
   * keep the process alive.
   */
  readonly after: (milliseconds: number, action: () => void, how?: { readonly background?: boolean }) => () => void;
}

/** Returns milliseconds since the process started. `performance.now()` would load a slow part of Node first. */
export function uptime(): number {
  return process.uptime() * 1000;
}

/** The real clock, with Node's timers. */
export const systemTime: TimeSource = {
  now: uptime,
  after(milliseconds, action, how) {
    const timer = setTimeout(action, milliseconds);
    if (how?.background) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Returns the promise's value, or undefined if the promise takes longer than `milliseconds`. */
export async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Resolves with true if the promise resolves within `milliseconds`, otherwise with false. Rejects if it rejects in
 * time.
 */
export async function settledWithin(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  return (
    (await within(
      promise.then(() => true),
      milliseconds,
    )) === true
  );
}

/** The longest delay of a Node timer, in milliseconds. For a longer delay, the timer is started several times. */
const longestDelay = 2 ** 31 - 1;

interface PausableTimer {
  readonly due: number;
  readonly start: (milliseconds: number) => () => void;
  stop: () => void;
}

/** Time that can be paused. While it is paused, its timers wait. */
export class PausableTime implements TimeSource {
  readonly #time: TimeSource;
  readonly #timers = new Set<PausableTimer>();
  #pauses = 0;
  #pausedAt = 0;
  #pausedFor = 0;

  constructor(time: TimeSource = systemTime) {
    this.#time = time;
  }

  /** How many milliseconds the pauses took that have ended. */
  get pausedFor(): number {
    return this.#pausedFor;
  }

  now(): number {
    return (this.#pauses > 0 ? this.#pausedAt : this.#time.now()) - this.#pausedFor;
  }

  after(milliseconds: number, action: () => void, how?: { readonly background?: boolean }): () => void {
    const run = (): void => {
      this.#timers.delete(timer);
      action();
    };
    const timer: PausableTimer = {
      due: this.now() + milliseconds,
      start: (left) => this.#time.after(left, run, how),
      stop: () => {},
    };
    this.#timers.add(timer);
    if (this.#pauses === 0) timer.stop = timer.start(milliseconds);
    return () => {
      this.#timers.delete(timer);
      timer.stop();
    };
  }

  /** Pauses until `resume` has been called as often as `pause`. */
  pause(): void {
    if (this.#pauses === 0) {
      this.#pausedAt = this.#time.now();
      for (const timer of this.#timers) timer.stop();
    }
    this.#pauses += 1;
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses > 0) return;
    this.#pausedFor += this.#time.now() - this.#pausedAt;
    const now = this.now();
    for (const timer of this.#timers) timer.stop = timer.start(Math.max(timer.due - now, 0));
  }

  async pausedDuring<T>(work: () => Promise<T>): Promise<T> {
    this.pause();
    try {
      return await work();
    } finally {
      this.resume();
    }
  }
}

/** A clock that can be paused, with one timer for all request timeouts of a session. */
export class RequestClock {
  readonly #onDue: (now: number) => number;
  readonly #outer: TimeSource;
  readonly #time: PausableTime;
  #due = Number.POSITIVE_INFINITY;
  #stopTimer: () => void = () => {};

  /** @param onDue Called at the due time. Returns the next due time, or Infinity. */
  constructor(onDue: (now: number) => number, time: TimeSource = systemTime) {
    this.#onDue = onDue;
    this.#outer = time;
    this.#time = new PausableTime(time);
  }

  /** Returns the current time in milliseconds. Time does not pass while the clock is paused. */
  now(): number {
    return this.#time.now();
  }

  /** Makes sure that `onDue` is called at this time, or earlier. */
  wakeBy(moment: number): void {
    if (moment >= this.#due) return;
    this.#due = moment;
    this.#setTimer();
  }

  /** Pauses the clock until `resume` has been called as often as `pause`. */
  pause(): void {
    this.#time.pause();
  }

  resume(): void {
    this.#time.resume();
  }

  stop(): void {
    this.#stopTimer();
    this.#due = Number.POSITIVE_INFINITY;
  }

  /** Starts a timer that `pause` does not stop. */
  after(milliseconds: number, action: () => void): () => void {
    return this.#outer.after(milliseconds, action);
  }

  #setTimer(): void {
    this.#stopTimer();
    if (this.#due === Number.POSITIVE_INFINITY) return;
    const delay = Math.min(Math.max(Math.ceil(this.#due - this.now()), 1), longestDelay);
    // The connection keeps the process alive, so the timer need not.
    this.#stopTimer = this.#time.after(delay, () => this.#ring(), { background: true });
  }

  #ring(): void {
    const moment = this.now();
    // The timer may fire early: Node's timers are inexact, and `longestDelay` may have cut the delay.
    if (moment < this.#due) {
      this.#setTimer();
    } else {
      this.#due = Number.POSITIVE_INFINITY;
      this.wakeBy(this.#onDue(moment));
    }
  }
}
