/** The confirmation of requests that come from the user and not from a model. */

import type { ConfirmPort } from "../../registry/binding.ts";
import type { RequestOptions } from "../types.ts";

/** Asks the user to confirm their own request. Without an answer, the request is refused. */
export function confirmTyped(confirm: NonNullable<RequestOptions["confirm"]>): ConfirmPort {
  return async (question) => {
    const details = await question();
    const outcome = details && (await confirm(details));
    if (details && outcome) await details.onConfirm(outcome);
  };
}
