/** Serves one connection of a client. Legacy and modern requests may arrive on the same connection. */

import type { JsonObject } from "@fairlead/wire";
import { member } from "@fairlead/wire/json";
import { type OpenChannel, type ServedClient, type ServedRequest, serveClient } from "@fairlead/wire/serve";
import type { BridgeContext } from "./bridge-context.ts";
import { createLegacyClient } from "./legacy-client.ts";
import { answerModern } from "./modern-client.ts";

/**
 * Maximum number and total size of the open requests on one connection. High, because most of them only wait for their
 * turn (`connection-turns.ts`).
 */
const limits = { inboundRequests: 256, inboundBytes: 64 * 1024 * 1024 };

/**
 * Serves one connection until it closes.
 * @param onOpen Called when a request arrives. Returns the function to call when the request is answered.
 * @param isLasting Whether the client sends all its requests on this connection. A modern HTTP client does not.
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
      function answerIn(method: string, params: JsonObject, request: ServedRequest): Promise<JsonObject> {
        if (member(params["_meta"], "io.modelcontextprotocol/protocolVersion") === undefined)
          return legacy.request(method, params, request);
        const { id, signal } = request;
        return answerModern(
          context,
          client,
          { method, params },
          { id, signal, gone: isLasting ? gone.signal : undefined },
        );
      }

      return {
        request(method, params, request) {
          const ended = onOpen();
          try {
            const answer = answerIn(method, params, request);
            if (request.atEnd) request.atEnd(ended);
            else answer.then(ended, ended);
            return answer;
          } catch (error) {
            ended();
            throw error;
          }
        },
        notification: (method, params) => legacy.notification(method, params),
      };
    },
    { limits },
  );
  return served;
}
