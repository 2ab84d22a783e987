/** Describes the client of a request, so that its user can be asked for approval. */

import type { JsonObject } from "@fairlead/wire";
import type { AskedClient } from "../gateway-client.ts";
import type { ClientCall } from "../questions/client-call.ts";
import { canElicit } from "../questions/server-question.ts";
import type { BridgeContext } from "./bridge-context.ts";

/** Returns the client's name and the functions that send it elicitations during this request. */
export function askedClient({ client, workspace }: BridgeContext, call: ClientCall): AskedClient {
  return {
    name: client.name,
    principal: workspace.principal,
    conversation: client.conversation,
    elicitation: canElicit(call.capabilities),
    elicit: (params: JsonObject, signal: AbortSignal) => call.ask("elicitation/create", params, signal),
    // Only the legacy protocol has a notification for the end of a URL elicitation.
    elicited:
      call.era === "legacy"
        ? (elicitationId: string) => call.notify("notifications/elicitation/complete", { elicitationId })
        : undefined,
  };
}
