/** The official client behind our `Session`: what another implementation makes of the same servers. */

import {
  Client,
  type PriorDiscovery,
  SSEClientTransport,
  type StandardSchemaV1,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { WireError } from "../../src/errors.ts";
import type {
  JsonObject,
  McpRequestOptions,
  NegotiatedProtocol,
  NotificationListener,
  Progress,
  RequestHandler,
  ServerInfo,
  Session,
} from "../../src/session.ts";
import { type ConnectOptions, defaultTimes, type Target } from "../../src/target.ts";
import { toWireError } from "./sdk-errors.ts";

/** Results as they come: shapes are the caller's business, as with our own engine. */
const anything: StandardSchemaV1<unknown, JsonObject> = {
  "~standard": { version: 1, vendor: "fairlead", validate: (value) => ({ value: value as JsonObject }) },
};

const askable = ["elicitation/create", "sampling/createMessage", "roots/list"] as const;

export async function connectSdk(target: Target, options: ConnectOptions): Promise<Session> {
  const times = { ...defaultTimes, ...options.times };
  const client = new Client(options.clientInfo, {
    capabilities: options.capabilities ?? {},
    versionNegotiation: { mode: modeFor(options.era), probe: { timeoutMs: times.connect } },
  });
  const listeners = new Set<NotificationListener>(options.onNotification ? [options.onNotification] : []);
  let handler: RequestHandler | undefined = options.onRequest;
  client.fallbackNotificationHandler = async ({ method, params }) => {
    for (const listener of listeners) listener(method, params ?? {});
  };
  for (const method of askable)
    if (options.capabilities?.[capabilityOf(method)] !== undefined)
      client.setRequestHandler(method, async ({ params }, { mcpReq }) => {
        if (handler === undefined) throw new Error(`${method} is not supported`);
        return (await handler(method, params ?? {}, mcpReq.signal)) as never;
      });

  const transport = transportFor(target);
  const closed = new Promise<WireError | undefined>((resolve) => {
    client.onclose = () => resolve(undefined);
  });
  try {
    const prior = priorOf(options.era);
    await client.connect(transport, {
      timeout: times.connect,
      ...(options.signal && { signal: options.signal }),
      ...(prior && { prior }),
    });
  } catch (error) {
    throw toWireError(error, "connect", options.signal);
  }

  async function request(method: string, params?: JsonObject, given: McpRequestOptions = {}): Promise<JsonObject> {
    try {
      if (method === "subscriptions/listen") return await listen(client, params ?? {}, given, tell);
      const message = params === undefined ? { method } : { method, params };
      return await client.request(message, anything, {
        // The absolute limit is looked at only when progress arrives: the silence may not be longer than that.
        timeout: Math.min(given.timeout ?? times.request, given.total ?? Number.POSITIVE_INFINITY),
        resetTimeoutOnProgress: true,
        ...(given.signal && { signal: given.signal }),
        ...(given.total !== undefined && { maxTotalTimeout: given.total }),
        ...(given.onProgress && { onprogress: (progress) => given.onProgress?.(progress as Progress) }),
      });
    } catch (error) {
      throw toWireError(error, method, given.signal);
    }
  }

  function tell(method: string, params: JsonObject): void {
    for (const listener of listeners) listener(method, params);
  }

  const instructions = client.getInstructions();
  return {
    era: client.getProtocolEra() ?? "legacy",
    protocolVersion: client.getNegotiatedProtocolVersion() ?? "",
    serverInfo: (client.getServerVersion() ?? { name: "unknown", version: "unknown" }) as ServerInfo,
    capabilities: { ...client.getServerCapabilities() },
    ...(instructions !== undefined && { instructions }),
    protocol: protocolOf(client, target),
    request,
    notify: async (method, params) => {
      await client.notification(params === undefined ? { method } : { method, params }).catch((error: unknown) => {
        throw toWireError(error, method, undefined);
      });
    },
    onNotification(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onRequest(given) {
      handler = given;
    },
    closed,
    async close() {
      // A server that is gone cannot be told.
      if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(() => undefined);
      await client.close();
    },
  };
}

function modeFor(era: ConnectOptions["era"]): "legacy" | "auto" | { pin: string } {
  if (era === "legacy") return "legacy";
  return era === "modern" ? { pin: "2026-07-28" } : "auto";
}

function priorOf(era: ConnectOptions["era"]): PriorDiscovery | undefined {
  return typeof era === "object" && era.era === "legacy" ? { kind: "legacy" } : undefined;
}

function capabilityOf(method: (typeof askable)[number]): string {
  return method.split("/")[0] ?? "";
}

function transportFor(target: Target): Transport {
  switch (target.kind) {
    case "stdio":
      return new StdioClientTransport({ ...target, args: [...target.args], env: { ...target.env }, stderr: "ignore" });
    case "http":
      return new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers: target.headers } });
    case "sse":
      return new SSEClientTransport(new URL(target.url), { requestInit: { headers: target.headers } });
    case "http-or-sse":
      throw new Error("the SDK does not fall back from HTTP to SSE");
  }
}

function protocolOf(client: Client, target: Target): NegotiatedProtocol {
  const transport = target.kind === "http-or-sse" ? "http" : target.kind;
  if (client.getDiscoverResult() === undefined || transport === "sse") return { era: "legacy", transport };
  return { era: "modern", transport };
}

/** The SDK keeps a subscription's confirmation to itself: it is told here as the notification that it was. */
async function listen(
  client: Client,
  params: JsonObject,
  { signal }: McpRequestOptions,
  tell: NotificationListener,
): Promise<JsonObject> {
  const subscription = await client.listen(params["notifications"] ?? {}, signal ? { signal } : {});
  tell("notifications/subscriptions/acknowledged", { notifications: subscription.honoredFilter });
  signal?.addEventListener("abort", () => void subscription.close(), { once: true });
  const end = await subscription.closed;
  if (end === "graceful") return { resultType: "complete" };
  throw new Error(`the subscription was closed: ${end}`);
}
