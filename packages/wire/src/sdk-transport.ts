/** A session as a transport of the official SDK, so that the SDK's extensions run on a conversation that is open already. */

import { listenMethod } from "./eras/methods.ts";
import { WireError } from "./errors.ts";
import type { JsonObject, Session } from "./session.ts";
import { isObject, objectOf } from "./shapes/json.ts";

/** What the SDK calls a `Transport`, as far as it matters here; nothing of the SDK is imported. */
export interface SdkTransport {
  start(): Promise<void>;
  send(message: JsonObject): Promise<void>;
  /** Lets go of the session, which stays open: it belongs to whoever opened it. */
  close(): Promise<void>;
  onmessage?: ((message: JsonObject) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

const methodNotFound = -32601;

/**
 * Give it to a client with `versionNegotiation: { mode: "auto" }`: the handshake of either era is answered from what the
 * session knows. Requests of the server stay with the session's own handler; subscriptions are opened on the session.
 */
export function sdkTransport(session: Session): SdkTransport {
  const open = new Map<unknown, AbortController>();
  let stopListening: (() => void) | undefined;
  let isOver = false;

  const transport: SdkTransport = {
    async start() {
      stopListening ??= session.onNotification((method, params) => deliver({ method, params }));
      void session.closed.then(end);
    },
    async send(message) {
      const { id, method } = message;
      if (isOver) throw new WireError("closed", "the connection is closed", { unsent: true });
      if (typeof method !== "string") return;
      if (id === undefined) await notify(method, paramsOf(message));
      else await request(id, method, paramsOf(message));
    },
    async close() {
      for (const controller of open.values()) controller.abort();
      end();
    },
  };

  function deliver(message: JsonObject): void {
    if (!isOver) transport.onmessage?.({ jsonrpc: "2.0", ...message });
  }

  function end(): void {
    if (isOver) return;
    isOver = true;
    stopListening?.();
    transport.onclose?.();
  }

  async function notify(method: string, params: JsonObject | undefined): Promise<void> {
    if (method === "notifications/cancelled") open.get(params?.["requestId"])?.abort();
    // The session said this when it was opened.
    else if (method !== "notifications/initialized") await session.notify(method, params);
  }

  async function request(id: unknown, method: string, params: JsonObject | undefined): Promise<void> {
    const known = answerOf(session, method);
    if (known) return deliver({ id, ...known });
    const controller = new AbortController();
    open.set(id, controller);
    const { progressToken } = objectOf(params?.["_meta"]);
    try {
      const result = await session.request(method, params, {
        signal: controller.signal,
        // The SDK's client has a clock of its own.
        timeout: Number.POSITIVE_INFINITY,
        ...(progressToken !== undefined && {
          onProgress: (progress) =>
            deliver({ method: "notifications/progress", params: { progressToken, ...progress } }),
        }),
      });
      deliver({ id, result });
    } catch (error) {
      const answered = error instanceof WireError ? error.evidence.rpc : undefined;
      if (answered && error instanceof Error) deliver({ id, error: { ...answered, message: error.message } });
      // Thrown from here it becomes the error of the request; a request that was given up has nobody to tell.
      else if (!controller.signal.aborted) throw error;
    } finally {
      open.delete(id);
    }
  }

  return transport;
}

/** The answer to a request that does not go to the server: what is settled already, and what cannot be shared. */
function answerOf(session: Session, method: string): JsonObject | undefined {
  const { era } = session;
  switch (method) {
    case "initialize":
      return era === "legacy" ? { result: greetingOf(session) } : refusal(`the session is of the ${era} era`);
    case "server/discover":
      return era === "modern" ? { result: discoveryOf(session) } : refusal(`the session is of the ${era} era`);
    case listenMethod:
      return refusal("subscriptions are opened on the session itself");
  }
  return undefined;
}

function refusal(message: string): JsonObject {
  return { error: { code: methodNotFound, message } };
}

function greetingOf({ protocolVersion, capabilities, serverInfo, instructions }: Session): JsonObject {
  return { protocolVersion, capabilities, serverInfo, ...(instructions !== undefined && { instructions }) };
}

function discoveryOf({ protocolVersion, capabilities, serverInfo, instructions }: Session): JsonObject {
  return {
    resultType: "complete",
    supportedVersions: [protocolVersion],
    capabilities,
    ...(instructions !== undefined && { instructions }),
    // Nobody is to keep this for longer than the session.
    ttlMs: 0,
    cacheScope: "private",
    _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
  };
}

function paramsOf({ params }: JsonObject): JsonObject | undefined {
  return isObject(params) ? params : undefined;
}
