/** One timer for all request timeouts of a session. The timer pauses while the server waits for the client. */

import { systemTime, type TimeSource } from "./time-source.ts";

/** A clock that can be paused, with one timer. */
export interface RequestClock {
  /** Returns the current time in milliseconds. Time does not pass while the clock is paused. */
  readonly now: () => number;
  /** Makes sure that `onDue` is called at this time, or earlier. */
  readonly wakeBy: (moment: number) => void;
  /** Pauses the clock until `resume` has been called as often as `pause`. */
  readonly pause: () => void;
  readonly resume: () => void;
  readonly stop: () => void;
  /** Starts a timer that `pause` does not stop. */
  readonly after: TimeSource["after"];
}

/** The longest delay of a Node timer, in milliseconds. For a longer delay, the timer is started several times. */
const longestDelay = 2 ** 31 - 1;

/**
 * Creates a running clock.
 *
 * @param onDue Called at the due time. Returns the next due time, or Infinity.
 */
export function createRequestClock(onDue: (now: number) => number, time: TimeSource = systemTime): RequestClock {
  let pauses = 0;
  let pausedAt = 0;
  let pausedFor = 0;
  let due = Number.POSITIVE_INFINITY;
  let stopTimer: () => void = () => {};

  const now = (): number => (pauses > 0 ? pausedAt : time.now()) - pausedFor;

  function setTimer(): void {
    stopTimer();
    if (pauses > 0 || due === Number.POSITIVE_INFINITY) return;
    const delay = Math.min(Math.max(Math.ceil(due - now()), 1), longestDelay);
    // The connection keeps the process alive, so the timer need not.
    stopTimer = time.after(delay, ring, { background: true });
  }

  function ring(): void {
    const moment = now();
    // The timer may fire early: Node's timers are inexact, and `longestDelay` may have cut the delay.
    if (moment < due) {
      setTimer();
    } else {
      due = Number.POSITIVE_INFINITY;
      wakeBy(onDue(moment));
    }
  }

  function wakeBy(moment: number): void {
    if (moment >= due) return;
    due = moment;
    setTimer();
  }

  return {
    now,
    wakeBy,
    pause() {
      if (pauses === 0) pausedAt = time.now();
      pauses += 1;
      stopTimer();
    },
    resume() {
      pauses -= 1;
      if (pauses > 0) return;
      pausedFor += time.now() - pausedAt;
      setTimer();
    },
    stop() {
      stopTimer();
      due = Number.POSITIVE_INFINITY;
    },
    after: time.after,
  };
}
