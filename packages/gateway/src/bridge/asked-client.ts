/** Creates the `AskedClient` of a request: the functions that ask the client's user for approval. */

import type { JsonObject } from "@fairlead/wire";
import type { AskedClient } from "../gateway-client.ts";
import type { ClientCall } from "../questions/client-call.ts";
import { canElicit } from "../questions/server-question.ts";
import type { BridgeContext } from "./bridge-context.ts";

export function askedClient({ client }: BridgeContext, call: ClientCall): AskedClient {
  return {
    name: client.name,
    conversation: client.conversation,
    elicitation: canElicit(call.capabilities),
    elicit: (params: JsonObject, signal: AbortSignal) => call.ask("elicitation/create", params, signal),
    // Only the legacy protocol era has a notification that a URL elicitation is complete.
    ...(call.era === "legacy" && {
      elicited: (elicitationId: string) => call.notify("notifications/elicitation/complete", { elicitationId }),
    }),
  };
}
