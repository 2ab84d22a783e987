/** The end of the patience with a server that is being connected; it stands still while a person is busy. */

import { type Clock, systemClock } from "../clock.ts";

export interface Deadline {
  readonly signal: AbortSignal;
  start(): void;
  hold(): void;
  release(): void;
  /** Whether it was time, and not the caller, that ended the waiting. */
  isOver(): boolean;
  stop(): void;
}

export function createDeadline(caller: AbortSignal, milliseconds: number, clock: Clock = systemClock): Deadline {
  const late = new AbortController();
  let callOff: (() => void) | undefined;
  let left = milliseconds;
  let startedAt = 0;
  let holders = 0;

  function run(): void {
    startedAt = clock.now();
    callOff = clock.after(left, () => late.abort());
  }

  function pause(): void {
    if (callOff === undefined) return;
    callOff();
    callOff = undefined;
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
