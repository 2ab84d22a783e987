/** When lists are read again: at once when the server says that they changed, and ever more rarely the more often it says so. */

import type { Clock } from "../../clock.ts";
import type { ListName } from "../../events.ts";

export interface Refresh {
  readonly changed: (list: ListName) => void;
  /** Before that, what changed is only remembered: the first reading is not over. */
  readonly start: () => void;
  readonly stop: () => void;
}

export interface RefreshOptions {
  /** Never rejects. */
  readonly read: (lists: readonly ListName[]) => Promise<void>;
  readonly clock: Clock;
}

const shortestPause = 1000;
const longestPause = 30_000;

export function createRefresh({ read, clock }: RefreshOptions): Refresh {
  const changed = new Set<ListName>();
  let isIdle = false;
  let isOver = false;
  let pause = shortestPause;
  let callOff = (): void => {};

  async function run(): Promise<void> {
    isIdle = false;
    const lists = [...changed];
    changed.clear();
    await read(lists);
    if (!isOver) callOff = clock.after(pause, rested, { background: true });
  }

  function rested(): void {
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
      callOff();
    },
  };
}
