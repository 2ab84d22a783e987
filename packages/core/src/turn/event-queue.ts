/** Queues events of parallel work for one reader. */

import type { TurnEvent } from "./events.ts";

/** A queue of events. */
export interface EventQueue extends AsyncIterable<TurnEvent> {
  readonly push: (event: TurnEvent) => void;
  /** Ends the queue. Events in it are still delivered. */
  readonly end: () => void;
}

/** Creates an empty queue. */
export function createEventQueue(): EventQueue {
  const waiting: TurnEvent[] = [];
  let isOver = false;
  let wake = (): void => {};

  return {
    push(event) {
      // A server may report progress faster than it is read: of unread progress only the latest is kept.
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
