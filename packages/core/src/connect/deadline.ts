/** The deadline of a connection attempt. It is paused while a person signs in. */

import { type Clock, systemClock } from "../clock.ts";

/** A deadline that can be paused. */
export interface Deadline {
  readonly signal: AbortSignal;
  start(): void;
  /** Pauses the deadline until the matching `release`. */
  hold(): void;
  release(): void;
  /** Whether the time ran out before the caller aborted. */
  isOver(): boolean;
  stop(): void;
}

/** @param milliseconds Time from `start` until `signal` aborts, without pauses. */
export function createDeadline(caller: AbortSignal, milliseconds: number, clock: Clock = systemClock): Deadline {
  const late = new AbortController();
  let cancelTimer: (() => void) | undefined;
  let left = milliseconds;
  let startedAt = 0;
  let holders = 0;

  function run(): void {
    startedAt = clock.now();
    cancelTimer = clock.after(left, () => late.abort());
  }

  function pause(): void {
    if (cancelTimer === undefined) return;
    cancelTimer();
    cancelTimer = undefined;
    left = Math.max(left - (clock.now() - startedAt), 0);
  }

  let isRunning = false;
  return {
    signal: AbortSignal.any([caller, late.signal]),
    start() {
      isRunning = true;
      if (holders === 0) run();
    },
    hold() {
      holders += 1;
      pause();
    },
    release() {
      holders -= 1;
      if (isRunning && holders === 0) run();
    },
    isOver: () => late.signal.aborted && !caller.aborted,
    stop() {
      isRunning = false;
      pause();
    },
  };
}
