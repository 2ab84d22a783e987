/** Events of things that happen side by side, in the order in which they happen, for one who takes them one by one. */

import type { TurnEvent } from "./events.ts";

export interface EventQueue extends AsyncIterable<TurnEvent> {
  readonly push: (event: TurnEvent) => void;
  /** What is in it is still given out. */
  readonly end: () => void;
}

export function createEventQueue(): EventQueue {
  const waiting: TurnEvent[] = [];
  let isOver = false;
  let wake = (): void => {};

  return {
    push(event) {
      // A server may report faster than anyone reads: of what nobody has seen yet, only the latest is worth keeping.
      const last = waiting.at(-1);
      if (event.type === "progress" && last?.type === "progress" && last.id === event.id) waiting.pop();
      waiting.push(event);
      wake();
    },
    end() {
      isOver = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) yield next;
        if (isOver) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
