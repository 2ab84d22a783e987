/** A clock with timers. Code that waits takes it as a parameter, so that a test can decide when time passes. */
export interface Clock {
  /** Returns milliseconds since a fixed moment in the past. The value never decreases. */
  now(): number;
  /** Runs `action` after `milliseconds`, unless the returned function is called first. */
  after(milliseconds: number, action: () => void, how?: TimerOptions): () => void;
}

/** Options of a timer. A `background` timer does not keep the process alive. */
export interface TimerOptions {
  readonly background?: boolean;
}

/** The longest delay of a Node timer, in milliseconds. With a longer delay, the timer would fire at once. */
const longestDelay = 2 ** 31 - 1;

/** The real clock, with Node's timers. */
export const systemClock: Clock = {
  // The first call of `performance.now()` would load a slow part of Node.
  now: () => process.uptime() * 1000,
  after(milliseconds, action, { background = false } = {}) {
    const timer = setTimeout(action, Math.min(milliseconds, longestDelay));
    if (background) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** A stored time may lie this many milliseconds in the future, because clocks are often corrected by a little. */
const clockTolerance = 5000;

/**
 * Whether a moment is at most `lifetime` milliseconds ago. A moment in the future is not: the clock was set back since,
 * so the true age is unknown. All times are in milliseconds, and `at` and `now` since 1970.
 */
export function isRecent(at: number, lifetime: number, now: number): boolean {
  return at <= now + clockTolerance && at + lifetime >= now;
}

/** Never resolves. Rejects with the signal's reason when the signal aborts. */
export function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.throwIfAborted();
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** Waits for `milliseconds`. Rejects with the signal's reason if the signal aborts. */
export function sleep(clock: Clock, milliseconds: number, signal: AbortSignal, how?: TimerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const callOff = clock.after(
      milliseconds,
      () => {
        signal.removeEventListener("abort", abort);
        resolve();
      },
      how,
    );
    const abort = (): void => {
      callOff();
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
  });
}
