/** Time as a parameter: whatever waits is given a clock, so that a test can decide when a moment comes. */

/** Time as a parameter: code that waits takes a `Clock`, so that a test decides when time passes. */
export interface Clock {
  /** Milliseconds since some fixed moment; never goes back. */
  now(): number;
  /** Runs `action` once, that many milliseconds from now; returns the function that calls it off. In the background, it keeps no process alive. */
  after(milliseconds: number, action: () => void, how?: TimerOptions): () => void;
}

export interface TimerOptions {
  readonly background?: boolean;
}

/** @deprecated Renamed to `TimerOptions`. */
export type Waiting = TimerOptions;

/** A longer delay makes Node fire at once. */
const longestDelay = 2 ** 31 - 1;

/** The `Clock` of the running process. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, action, { background = false } = {}) {
    const timer = setTimeout(action, Math.min(milliseconds, longestDelay));
    if (background) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Waits; rejects with the signal's reason as soon as it is aborted. */
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
