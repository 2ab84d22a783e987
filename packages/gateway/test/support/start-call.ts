import type { JsonObject } from "@fairlead/wire";
import type { ClientCall } from "../../src/questions/client-call.ts";
import type { ModernRequest, ParkedCalls } from "../../src/questions/parked-calls.ts";

/** Runs a call of a modern client. Resolves with its result, or with `input_required`. */
export function startCall(
  parked: ParkedCalls,
  request: ModernRequest,
  run: (call: ClientCall) => Promise<JsonObject>,
): Promise<JsonObject> {
  const call = parked.open(request);
  return parked.untilAsked(call, run(call));
}
