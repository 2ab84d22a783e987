/**
 * Reads changed lists again: at once, or with growing pauses if the server keeps reporting changes. A request that
 * depends on a changed list does not wait for the end of a pause.
 */

import type { Clock } from "../clock.ts";
import type { ListName } from "../events.ts";

/** Schedules the reading of changed lists. */
export interface Refresh {
  readonly changed: (list: ListName) => void;
  /**
   * Returns undefined if the list is as the server last reported it. Otherwise resolves when it was read again, or
   * could not be read. All callers share one reading. A server that reports changes without end delays no caller for
   * longer than the reading that runs and the next one.
   */
  readonly upToDate: (list: ListName) => Promise<void> | undefined;
  /**
   * Starts to read changed lists, including lists reported before this call. Call it after the first catalog is read.
   */
  readonly start: () => void;
  readonly stop: () => void;
}

/** The function that reads lists, and the clock for the pauses between readings. */
export interface RefreshOptions {
  /** Reads these lists. Resolves with those that could not be read; never rejects. */
  readonly read: (lists: readonly ListName[]) => Promise<readonly ListName[]>;
  readonly clock: Clock;
}

const shortestPause = 1000;
const longestPause = 30_000;

/** Creates the schedule. After each reading it pauses for 1 s; if the server keeps reporting changes, up to 30 s. */
export function createRefresh({ read, clock }: RefreshOptions): Refresh {
  /** Lists that were reported after their last reading began. */
  const changed = new Set<ListName>();
  /** Lists whose last reading failed. They are read again when they are reported again, or when a request needs them. */
  const failed = new Set<ListName>();
  let reading: { readonly lists: readonly ListName[]; readonly done: Promise<void> } | undefined;
  /** The reading that requests wait for while another one runs. */
  let next: Promise<void> | undefined;
  let isStarted = false;
  let isOver = false;
  let pause = shortestPause;
  let cancelTimer: (() => void) | undefined;

  function run(): Promise<void> {
    cancelTimer?.();
    cancelTimer = undefined;
    const lists = [...changed];
    changed.clear();
    for (const list of lists) failed.delete(list);
    const done = read(lists).then((unread) => {
      for (const list of unread) failed.add(list);
      reading = undefined;
      if (isStarted && !isOver) cancelTimer = clock.after(pause, pauseEnded, { background: true });
    });
    reading = { lists, done };
    return done;
  }

  function pauseEnded(): void {
    cancelTimer = undefined;
    pause = changed.size > 0 ? Math.min(2 * pause, longestPause) : shortestPause;
    runIfDue();
  }

  function runIfDue(): void {
    const isPaused = cancelTimer !== undefined;
    if (isStarted && !isOver && !isPaused && reading === undefined && changed.size > 0) void run();
  }

  function runNext(after: Promise<void>): Promise<void> {
    return after.then(() => {
      next = undefined;
      return isOver ? undefined : run();
    });
  }

  return {
    changed(list) {
      changed.add(list);
      runIfDue();
    },
    upToDate(list) {
      if (isOver) return undefined;
      if (failed.has(list)) changed.add(list);
      if (!changed.has(list)) return reading?.lists.includes(list) ? reading.done : undefined;
      if (next !== undefined) return next;
      if (reading === undefined) return run();
      next = runNext(reading.done);
      return next;
    },
    start() {
      isStarted = true;
      runIfDue();
    },
    stop() {
      isOver = true;
      cancelTimer?.();
    },
  };
}
