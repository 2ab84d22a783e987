/** Time as a parameter: code that waits takes a `Clock`, so that a test decides when time passes. */
export interface Clock {
  /** Milliseconds since some fixed moment. The value never decreases. */
  now(): number;
  /** Runs `action` once after `milliseconds`. Returns a function that cancels it. */
  after(milliseconds: number, action: () => void, how?: TimerOptions): () => void;
}

/** Options of a timer: a `background` timer does not keep the process alive. */
export interface TimerOptions {
  readonly background?: boolean;
}

/** @deprecated Renamed to `TimerOptions`. */
export type Waiting = TimerOptions;

/** The longest delay of Node's timers, in milliseconds. With a longer delay, a timer would fire at once. */
const longestDelay = 2 ** 31 - 1;

/** The `Clock` of the running process. */
export const systemClock: Clock = {
  // Does not use `performance.now()`, because its first call loads a slow part of Node.
  now: () => process.uptime() * 1000,
  after(milliseconds, action, { background = false } = {}) {
    const timer = setTimeout(action, Math.min(milliseconds, longestDelay));
    if (background) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Waits for `milliseconds`. Rejects with the signal's reason when the signal is aborted. */
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
