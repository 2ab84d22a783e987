/** What tells a server that nobody waits any more, while it is on its way. */

import { within } from "./within.ts";

export interface PendingCancellations {
  readonly add: (message: Promise<unknown>) => void;
  /** Resolves when all have been said, or it takes too long; nothing if there are none. */
  readonly sent: (milliseconds: number) => Promise<unknown> | undefined;
}

export function createPendingCancellations(): PendingCancellations {
  const leaving = new Set<Promise<unknown>>();
  return {
    add(message) {
      const left: Promise<void> = message
        .catch(() => undefined)
        .then(() => {
          leaving.delete(left);
        });
      leaving.add(left);
    },
    sent: (milliseconds) => (leaving.size === 0 ? undefined : within(Promise.all(leaving), milliseconds)),
  };
}
