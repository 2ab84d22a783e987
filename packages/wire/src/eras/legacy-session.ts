/** The `Session` of the legacy protocol era, in which the server may also send requests to the client. */

import type { Rpc } from "../rpc/rpc.ts";
import type { JsonObject, McpRequestOptions, NegotiatedProtocol, Session } from "../session.ts";
import { isObject } from "../shapes/json.ts";
import type { Greeting } from "./handshake.ts";

/** Creates the session after a successful `initialize`. */
export function createLegacySession(rpc: Rpc, greeting: Greeting, transport: "stdio" | "http" | "sse"): Session {
  const protocol: NegotiatedProtocol = { era: "legacy", transport };
  const hasTasks = isObject(greeting.capabilities["tasks"]);

  async function requestOrTask(method: string, params?: JsonObject, options?: McpRequestOptions): Promise<JsonObject> {
    if (!options?.asTask || method !== "tools/call") return rpc.request(method, params, options);
    const { requestAsTask } = await import("./task.ts");
    return requestAsTask(rpc, method, params, options);
  }

  return {
    era: "legacy",
    ...greeting,
    protocol,
    request: hasTasks ? requestOrTask : rpc.request,
    notify: (method, params) => rpc.notify(method, params),
    onNotification: rpc.onNotification,
    flushNotifications: rpc.flushNotifications,
    onRequest: rpc.onRequest,
    mayAskForOthers: rpc.mayAskForOthers,
    closed: rpc.closed,
    close: rpc.close,
  };
}
