/** The clock of a conversation: one timer for all its deadlines, and it stands still while the server waits for us. */

import { systemTime, type TimeSource } from "./time-source.ts";

export interface RequestClock {
  /** Milliseconds that count: time spent standing still is not in them. */
  readonly now: () => number;
  /** Makes sure that the bell rings at this moment at the latest. */
  readonly wakeBy: (moment: number) => void;
  /** Stands still until as many `release` as `hold` have been called. */
  readonly pause: () => void;
  readonly resume: () => void;
  readonly stop: () => void;
  /** A moment of the time outside, which passes while the clock stands still, too. */
  readonly after: TimeSource["after"];
}

/** The longest delay a timer takes; a later moment is reached in several steps. */
const longestDelay = 2 ** 31 - 1;

/** @param bell Called when a moment has come; returns the next moment that matters, or Infinity. */
export function createRequestClock(bell: (now: number) => number, time: TimeSource = systemTime): RequestClock {
  let holds = 0;
  let heldAt = 0;
  let stoodStill = 0;
  let due = Number.POSITIVE_INFINITY;
  let callOff: () => void = () => {};

  const now = (): number => (holds > 0 ? heldAt : time.now()) - stoodStill;

  function setTimer(): void {
    callOff();
    if (holds > 0 || due === Number.POSITIVE_INFINITY) return;
    const delay = Math.min(Math.max(Math.ceil(due - now()), 1), longestDelay);
    // A conversation keeps the process alive through its channel, not through its deadlines.
    callOff = time.after(delay, ring, { background: true });
  }

  function ring(): void {
    const moment = now();
    // Timers are a little early now and then.
    if (moment < due) {
      setTimer();
    } else {
      due = Number.POSITIVE_INFINITY;
      ringBy(bell(moment));
    }
  }

  function ringBy(moment: number): void {
    if (moment >= due) return;
    due = moment;
    setTimer();
  }

  return {
    now,
    wakeBy: ringBy,
    pause() {
      if (holds === 0) heldAt = time.now();
      holds += 1;
      callOff();
    },
    resume() {
      holds -= 1;
      if (holds > 0) return;
      stoodStill += time.now() - heldAt;
      setTimer();
    },
    stop() {
      callOff();
      due = Number.POSITIVE_INFINITY;
    },
    after: time.after,
  };
}
