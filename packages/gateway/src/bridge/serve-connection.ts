/** Serves one connection of a client: each request in the protocol era that it is written in. */

import { member } from "@fairlead/wire/json";
import { type OpenChannel, type ServedClient, serveClient } from "@fairlead/wire/serve";
import type { BridgeContext } from "./bridge-context.ts";
import { createLegacyClient } from "./legacy-client.ts";
import { answerModern } from "./modern-client.ts";

/** How many requests of one client are answered at the same time. */
const openRequests = 32;

/**
 * @param onOpen Called when a request arrives; returns the function to call when it is answered.
 * @param isLasting Whether the connection carries all requests of its client, and ends with the client.
 */
export function serveConnection(
  open: OpenChannel,
  context: BridgeContext,
  onOpen: () => () => void,
  isLasting: boolean,
): ServedClient {
  const served = serveClient(
    open,
    (client) => {
      const legacy = createLegacyClient(context, client);
      const gone = new AbortController();
      const end = (): void => {
        gone.abort();
        legacy.close();
      };
      client.closed.then(end, end);
      return {
        async request(method, params, request) {
          const ended = onOpen();
          const isModern = member(params["_meta"], "io.modelcontextprotocol/protocolVersion") !== undefined;
          try {
            return await (isModern
              ? answerModern(
                  context,
                  client,
                  { method, params },
                  { ...request, ...(isLasting && { gone: gone.signal }) },
                )
              : legacy.request(method, params, request));
          } finally {
            ended();
          }
        },
        notification: (method, params) => legacy.notification(method, params),
      };
    },
    { limits: { inboundRequests: openRequests } },
  );
  return served;
}
