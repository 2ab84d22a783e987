/** The end of the patience with a server that is being connected; it stands still while a person is busy. */

export interface Deadline {
  readonly signal: AbortSignal;
  start(): void;
  hold(): void;
  release(): void;
  /** Whether it was time, and not the caller, that ended the waiting. */
  isOver(): boolean;
  stop(): void;
}

export function createDeadline(caller: AbortSignal, milliseconds: number): Deadline {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let left = milliseconds;
  let startedAt = 0;
  let holders = 0;

  function run(): void {
    startedAt = performance.now();
    timer = setTimeout(() => late.abort(), left);
  }

  function pause(): void {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    left = Math.max(left - (performance.now() - startedAt), 0);
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
