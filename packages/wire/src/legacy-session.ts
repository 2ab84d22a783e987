/** A conversation of the legacy era: `initialize` opened it, the server may ask back, and it has a state. */

import type { Greeting } from "./handshake.ts";
import { slowMethods } from "./methods.ts";
import type { Rpc } from "./rpc.ts";
import type { Session } from "./session.ts";
import type { Verdict } from "./target.ts";

export function createLegacySession(rpc: Rpc, greeting: Greeting, transport: "stdio" | "http" | "sse"): Session {
  const verdict: Verdict = { era: "legacy", transport };
  return {
    era: "legacy",
    ...greeting,
    verdict,
    request: (method, params, options) =>
      rpc.request(method, params, slowMethods.has(method) ? { ...options, token: true } : options),
    notify: (method, params) => rpc.notify(method, params),
    onNotification: rpc.onNotification,
    onRequest: rpc.onRequest,
    closed: rpc.closed,
    close: rpc.close,
  };
}
