/**
 * Turns an open session into a transport of the official SDK, so that the SDK's extensions run over Fairlead's wire.
 */

const methodNotFound = -32601;

/**
 * Creates the transport for a client of the SDK with `versionNegotiation: { mode: "auto" }`. It answers the handshake
 * of either era from the session's own fields. The session keeps its handler for the server's requests and its
 * subscriptions. Closing the transport leaves the session open.
 */
export function sdkTransport(session) {
  const open = new Map();
  let stopListening;
  let isClosed = false;

  const transport = {
    async start() {
      stopListening ??= session.onNotification((method, params) => deliver({ method, params }));
      void session.closed.then(end);
    },
    async send({ id, method, params }) {
      if (isClosed) throw new Error("the connection is closed");
      if (typeof method !== "string") return;
      if (id === undefined) await notify(method, params);
      else await request(id, method, params);
    },
    async close() {
      for (const controller of open.values()) controller.abort();
      end();
    },
  };

  function deliver(message) {
    if (!isClosed) transport.onmessage?.({ jsonrpc: "2.0", ...message });
  }

  function end() {
    if (isClosed) return;
    isClosed = true;
    stopListening?.();
    transport.onclose?.();
  }

  async function notify(method, params) {
    if (method === "notifications/cancelled") open.get(params?.requestId)?.abort();
    // The session itself has already sent `initialized`.
    else if (method !== "notifications/initialized") await session.notify(method, params);
  }

  async function request(id, method, params) {
    const own = ownAnswer(session, method);
    if (own) return deliver({ id, ...own });
    const controller = new AbortController();
    open.set(id, controller);
    const progressToken = params?._meta?.progressToken;
    try {
      const result = await session.request(method, params, {
        signal: controller.signal,
        // The SDK's client has its own timeout.
        timeout: Number.POSITIVE_INFINITY,
        ...(progressToken !== undefined && {
          onProgress: (progress) =>
            deliver({ method: "notifications/progress", params: { progressToken, ...progress } }),
        }),
      });
      deliver({ id, result });
    } catch (error) {
      const { rpc } = error.evidence ?? {};
      if (rpc) deliver({ id, error: { ...rpc, message: error.message } });
      // The client reports an error of `send` as the error of this request. It no longer waits for an aborted request.
      else if (!controller.signal.aborted) throw error;
    } finally {
      open.delete(id);
    }
  }

  return transport;
}

/** Returns the answer to a request that does not go to the server: the finished handshake, or a subscription. */
function ownAnswer({ era, protocolVersion, capabilities, serverInfo, instructions }, method) {
  const common = { capabilities, ...(instructions !== undefined && { instructions }) };
  switch (method) {
    case "initialize":
      return era === "legacy" ? { result: { ...common, protocolVersion, serverInfo } } : otherEra(era);
    case "server/discover":
      return era === "modern" ? { result: discovery(common, protocolVersion, serverInfo) } : otherEra(era);
    case "subscriptions/listen":
      return refusal("subscriptions are opened on the session itself");
  }
  return undefined;
}

function discovery(common, protocolVersion, serverInfo) {
  return {
    ...common,
    resultType: "complete",
    supportedVersions: [protocolVersion],
    ttlMs: 0,
    cacheScope: "private",
    _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
  };
}

function otherEra(era) {
  return refusal(`the session is of the ${era} era`);
}

function refusal(message) {
  return { error: { code: methodNotFound, message } };
}
