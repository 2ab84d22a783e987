/** What the end of a turn means for the exit code: nothing, or an error. Pure. */

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
    next: "Let a tool run with --allow SERVER.TOOL, or leave --fail-on-denied out.",
  });
}

function unfinished(reason: DoneReason): HostError | undefined {
  switch (reason) {
    case "stop":
      return undefined;
    case "cancelled":
      return new HostError("cancelled", "cancelled");
    case "length":
      return new HostError("model", "the answer is cut: it is longer than the model may write");
    case "safety":
      return new HostError("model", "the model's API kept the answer back, for the sake of safety", {
        next: "Ask in other words.",
      });
    case "limit":
      return new HostError("model", "the turn had not come to an end when it reached the limit on requests or calls", {
        next: "Raise it with --max-turns, or ask for less at once.",
      });
  }
}
