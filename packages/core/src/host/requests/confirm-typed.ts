/** The confirmation of requests that the user typed. */

import type { ConfirmPort } from "../../registry/binding.ts";
import type { RequestOptions } from "../types.ts";

/** Asks the user to confirm a request that they typed. Without an answer, the request is refused. */
export function confirmTyped(confirm: NonNullable<RequestOptions["confirm"]>): ConfirmPort {
  return async (question) => {
    const details = await question();
    const outcome = details && (await confirm(details));
    if (details && outcome) await details.onConfirm(outcome);
  };
}
