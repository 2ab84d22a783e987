/** Counts the answer to a confirmation as running work of the host, until the answer is saved. */

import type { ToolCallConfirmationDetails } from "../../registry/confirmation.ts";
import type { OpenWork } from "../open-work.ts";

/**
 * Returns the same confirmation, whose answer the host waits for when it is closed. A request that is cancelled does
 * not wait for its answer to be saved, so counting the request is not enough. An answer to a closed host has no effect.
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
