/** Cancellations that are being sent, so that `close` can wait for them. */

import { within } from "./within.ts";

/** The `notifications/cancelled` messages that have not been sent completely. */
export interface PendingCancellations {
  readonly add: (message: Promise<unknown>) => void;
  /**
   * Resolves when all messages are sent, or after `milliseconds`. Returns undefined if there is nothing to wait for.
   */
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
