/** Reads changed lists again. Reads them at once, or with growing pauses if the server keeps reporting changes. */

import type { Clock } from "../../clock.ts";
import type { ListName } from "../../events.ts";

/** Schedules the reading of changed lists. */
export interface Refresh {
  readonly changed: (list: ListName) => void;
  /** Begins to read changed lists, also those reported earlier. Call it after the first catalog is read. */
  readonly start: () => void;
  readonly stop: () => void;
}

export interface RefreshOptions {
  /** Reads these lists; never rejects. */
  readonly read: (lists: readonly ListName[]) => Promise<void>;
  readonly clock: Clock;
}

const shortestPause = 1000;
const longestPause = 30_000;

/** Creates the schedule. After each reading it pauses for 1 s, or up to 30 s if the server keeps reporting changes. */
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
