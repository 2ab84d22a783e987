/** Makes sure that closing the host waits until the answer to a confirmation is saved. */

import type { ToolCallConfirmationDetails } from "../../registry/confirmation.ts";
import type { OpenWork } from "../open-work.ts";

/**
 * Returns the same confirmation, but closing the host waits until its answer is saved. Waiting for the request is not
 * enough: a cancelled request ends before its answer is saved. After closing, answers have no effect.
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
