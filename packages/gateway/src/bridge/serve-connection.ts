/** Serves one client connection, and answers each request in the protocol era in which the client sent it. */

import { member } from "@fairlead/wire/json";
import { type OpenChannel, type ServedClient, serveClient } from "@fairlead/wire/serve";
import type { BridgeContext } from "./bridge-context.ts";
import { createLegacyClient } from "./legacy-client.ts";
import { answerModern } from "./modern-client.ts";

/**
 * Maximum number of open requests of one connection, and of their bytes together. Most of these requests may be waiting
 * for their turn at a server.
 */
const limits = { inboundRequests: 256, inboundBytes: 64 * 1024 * 1024 };

/**
 * Serves one connection.
 * @param onOpen Called when a request arrives; returns the function to call when the request is answered.
 * @param isLasting Whether one connection carries all requests of the client, so that the client has disconnected when
 * the connection closes.
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
    { limits },
  );
  return served;
}
