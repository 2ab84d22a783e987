/** Serves one connection of a client. Legacy and modern requests may arrive on the same connection. */

import type { JsonObject } from "@fairlead/wire";
import { member } from "@fairlead/wire/json";
import { type OpenChannel, type ServedClient, type ServedRequest, serveClient } from "@fairlead/wire/serve";
import type { ClientCall } from "../questions/client-call.ts";
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
 * @param how `isLasting`: whether the client sends all its requests on this connection. A modern HTTP client does not.
 */
export function serveConnection(
  open: OpenChannel,
  context: BridgeContext,
  onOpen: () => () => void,
  { isLasting, transport }: { readonly isLasting: boolean; readonly transport: "stdio" | "http" },
): ServedClient {
  const { client: gatewayClient, workspace } = context;
  const { name, conversation: session } = gatewayClient;
  const traces = workspace.host.telemetry.current?.client({ name, session, transport });
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
      if (traces !== undefined && isLasting)
        client.closed.then(
          (cause) => traces.closed(cause),
          () => undefined,
        );
      function answerIn(
        method: string,
        params: JsonObject,
        request: ServedRequest,
        received?: ClientCall["received"],
      ): Promise<JsonObject> {
        if (member(params["_meta"], "io.modelcontextprotocol/protocolVersion") === undefined)
          return legacy.request(method, params, { request, received });
        const { id, signal } = request;
        return answerModern(
          context,
          client,
          { method, params },
          { id, signal, received, gone: isLasting ? gone.signal : undefined },
        );
      }

      function answerTraced(
        by: NonNullable<typeof traces>,
        method: string,
        params: JsonObject,
        request: ServedRequest,
      ): Promise<JsonObject> {
        const { id, headers, stop } = request;
        const received = by.begin({ method, params, id, headers });
        try {
          const answer = answerIn(method, params, request, received);
          answer.then(
            (result) => received.answered(result),
            (error: unknown) => received.failed(error, stop?.aborted === true),
          );
          return answer;
        } catch (error) {
          received.failed(error, false);
          throw error;
        }
      }

      return {
        request(method, params, request) {
          const ended = onOpen();
          try {
            const answer = traces ? answerTraced(traces, method, params, request) : answerIn(method, params, request);
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
