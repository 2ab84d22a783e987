/** Maps the end of a turn to the error that determines the exit code. Pure. */

import { HostError } from "@fairlead/core/errors";
import type { DoneReason, TurnEvent } from "@fairlead/core/turn/events";

type Done = Extract<TurnEvent, { readonly type: "done" }>;

export function endingOf(
  { reason, denied }: Pick<Done, "reason" | "denied">,
  { failOnDenied }: { readonly failOnDenied: boolean },
): HostError | undefined {
  const cut = unfinished(reason);
  if (cut !== undefined || !failOnDenied || denied === 0) return cut;
  const what = denied === 1 ? "a call was denied" : `${denied} calls were denied`;
  return new HostError("denied", what, {
    next: "add --allow SERVER.TOOL, or remove --fail-on-denied",
  });
}

function unfinished(reason: DoneReason): HostError | undefined {
  switch (reason) {
    case "stop":
      return undefined;
    case "cancelled":
      return new HostError("cancelled", "cancelled");
    case "length":
      return new HostError("model", "the answer is incomplete: it reached the model's output limit");
    case "safety":
      return new HostError("model", "the model's API stopped the answer for safety reasons", {
        next: "rephrase the prompt",
      });
    case "limit":
      return new HostError("model", "the turn is incomplete: it reached the limit on requests or calls", {
        next: "raise --max-turns, or ask for less",
      });
  }
}
