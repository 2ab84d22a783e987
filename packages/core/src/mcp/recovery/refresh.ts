/** Reads changed lists again. Reads them at once, or with growing pauses if the server keeps reporting changes. */

import type { Clock } from "../../clock.ts";
import type { ListName } from "../../events.ts";

/** Schedules the reading of changed lists. */
export interface Refresh {
  readonly changed: (list: ListName) => void;
  /**
   * Starts to read changed lists, including lists reported before this call. Call it after the first catalog is read.
   */
  readonly start: () => void;
  readonly stop: () => void;
}

/** The function that reads lists, and the clock for the pauses between readings. */
export interface RefreshOptions {
  /** Reads these lists; never rejects. */
  readonly read: (lists: readonly ListName[]) => Promise<void>;
  readonly clock: Clock;
}

const shortestPause = 1000;
const longestPause = 30_000;

/** Creates the schedule. After each reading it pauses for 1 s; if the server keeps reporting changes, up to 30 s. */
export function createRefresh({ read, clock }: RefreshOptions): Refresh {
  const changed = new Set<ListName>();
  let isIdle = false;
  let isOver = false;
  let pause = shortestPause;
  let cancelTimer = (): void => {};

  async function run(): Promise<void> {
    isIdle = false;
    const lists = [...changed];
    changed.clear();
    await read(lists);
    if (!isOver) cancelTimer = clock.after(pause, pauseEnded, { background: true });
  }

  function pauseEnded(): void {
    pause = changed.size > 0 ? Math.min(2 * pause, longestPause) : shortestPause;
    runOrIdle();
  }

  function runOrIdle(): void {
    if (changed.size > 0) void run();
    else isIdle = true;
  }

  return {
    changed(list) {
      changed.add(list);
      if (isIdle && !isOver) void run();
    },
    start: runOrIdle,
    stop() {
      isOver = true;
      cancelTimer();
    },
  };
}
