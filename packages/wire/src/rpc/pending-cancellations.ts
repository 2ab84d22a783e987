/** Messages that `close` must wait for, because they tell the server to stop its work. */

import { within } from "./within.ts";

/** Cancellation messages that are still being sent. */
export interface PendingCancellations {
  readonly add: (message: Promise<unknown>) => void;
  /** Resolves when all messages are sent, or after `milliseconds`. Undefined if no message is being sent. */
  readonly sent: (milliseconds: number) => Promise<unknown> | undefined;
}

/** Creates an empty list. A message that could not be sent counts as sent. */
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
