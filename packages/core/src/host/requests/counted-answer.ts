/** Counts the answer to a confirmation as running work of the host, until the answer is saved. */

import type { ToolCallConfirmationDetails } from "../../registry/confirmation.ts";
import type { OpenWork } from "../open-work.ts";

/**
 * Returns the same confirmation, but closing the host waits until its answer is saved. Counting the request is not
 * enough, because a cancelled request does not wait for its answer to be saved. After the host is closed, an answer has
 * no effect.
 */
export function withCountedAnswer(
  details: ToolCallConfirmationDetails,
  work: Pick<OpenWork, "enter" | "leave" | "closing">,
): ToolCallConfirmationDetails {
  return {
    ...details,
    async onConfirm(outcome, how) {
      if (work.closing.aborted) return;
      work.enter(undefined);
      try {
        await details.onConfirm(outcome, how);
      } finally {
        work.leave(undefined);
      }
    },
  };
}
