/** The `Session` of the legacy protocol era, in which the server may also send requests to the client. */

import type { Rpc } from "../rpc/rpc.ts";
import type { JsonObject, McpRequestOptions, NegotiatedProtocol, Session } from "../session.ts";
import { isObject } from "../shapes/json.ts";
import type { Greeting } from "./handshake.ts";
import { slowMethods } from "./protocol.ts";

/** Creates the session after a successful `initialize`. */
export function createLegacySession(rpc: Rpc, greeting: Greeting, transport: "stdio" | "http" | "sse"): Session {
  const protocol: NegotiatedProtocol = { era: "legacy", transport };
  const hasTasks = isObject(greeting.capabilities["tasks"]);

  async function callAsTask(method: string, params: JsonObject | undefined, options: McpRequestOptions) {
    const { requestAsTask } = await import("./task.ts");
    return requestAsTask(rpc, method, params, options);
  }

  return {
    era: "legacy",
    ...greeting,
    protocol,
    request(method, params, options) {
      if (options?.asTask && hasTasks && method === "tools/call") return callAsTask(method, params, options);
      // `isSlow` is a separate argument: as an option, it would need a copy of `options`, which is slower than all
      // other code here.
      return rpc.request(method, params, options, slowMethods.has(method));
    },
    notify: (method, params) => rpc.notify(method, params),
    onNotification: rpc.onNotification,
    flushNotifications: rpc.flushNotifications,
    onRequest: rpc.onRequest,
    mayAskForOthers: rpc.mayAskForOthers,
    closed: rpc.closed,
    close: rpc.close,
  };
}
