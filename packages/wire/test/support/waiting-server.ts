/** A served session whose calls a test answers when it likes. */

import { once } from "node:events";
import { WireError } from "../../src/errors.ts";
import { type HttpListener, type HttpListenerOptions, listenHttp } from "../../src/serve/http-listener.ts";
import { type ServedClient, serveClient } from "../../src/serve/served-session.ts";
import type { JsonObject } from "../../src/session.ts";
import { type Collected, collected } from "./collected.ts";

/** A `tools/call` that waits for the test. */
export interface WaitingCall {
  readonly client: ServedClient;
  readonly owner: string;
  readonly id: number | string;
  readonly signal: AbortSignal;
  readonly finish: (result: JsonObject) => void;
  /** Resolves when the call has been cancelled. */
  readonly cancelled: Promise<unknown>;
}

export interface WaitingServer extends HttpListener, AsyncDisposable {
  readonly calls: Collected<WaitingCall>;
  /** The owner of each client that was let in. */
  readonly owners: string[];
}

/** Lets in each client that names itself in the header `Authorization`; `nobody` is not let in. */
export async function waitingServer(options: Partial<HttpListenerOptions<string>> = {}): Promise<WaitingServer> {
  const calls = collected<WaitingCall>();
  const owners: string[] = [];
  const listener = await listenHttp<string>({
    eras: ["legacy", "modern"],
    admit({ path, headers: { authorization: owner = "anybody" } }) {
      if (path !== "/mcp") return { status: 404 };
      return owner === "nobody" ? { status: 401 } : { owner, context: owner };
    },
    onClient(open, era, owner) {
      owners.push(owner);
      serveClient(open, (client) => ({
        async request(method, _params, { id, signal }) {
          if (method === "initialize" && era === "legacy")
            return { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: {} };
          if (method !== "tools/call" && method !== "subscriptions/listen")
            throw new WireError("rpc", `${method} is not here`, { rpc: { code: -32601 } });
          return new Promise((resolve) => {
            calls.add({ client, owner, id, signal, finish: resolve, cancelled: once(signal, "abort") });
          });
        },
      }));
    },
    ...options,
  });
  return { ...listener, calls, owners, [Symbol.asyncDispose]: () => listener.close() };
}
