import type { ForwardOptions } from "@fairlead/core/host/gateway-types";
import type { GatewayHost } from "@fairlead/core/host/types";
import type { Connection } from "@fairlead/core/server/connection";
import { expect, test } from "vitest";
import { createUpstreamLevels } from "../../src/bridge/upstream-levels.ts";

test("a server that does not answer to a log level is asked again only if the request was cancelled", async () => {
  const given: ForwardOptions[] = [];
  const { connection } = sampleServer();
  const gateway = {
    forward: (_request: unknown, options: ForwardOptions) => {
      given.push(options);
      return new Promise((_, reject) => {
        options.signal?.addEventListener("abort", () => reject(new Error("cancelled")));
      });
    },
  } as unknown as GatewayHost;
  const levels = createUpstreamLevels();
  const client = { name: "tester", conversation: "1" };
  const cancelled = new AbortController();
  const apply = (signal: AbortSignal): void => levels.apply(gateway, connection, client, { logLevel: "info", signal });
  apply(cancelled.signal);
  apply(cancelled.signal);
  expect(given).toHaveLength(1);
  expect(given[0]?.timeout).toBeGreaterThan(0);
  cancelled.abort();
  await new Promise(setImmediate);
  apply(new AbortController().signal);
  expect(given).toHaveLength(2);
});

interface SampleServer {
  readonly status?: string;
  readonly era?: string;
  readonly capabilities?: object;
  readonly fails?: boolean;
}

/** A connection to the server `one`. `sent`: the requests that it has got. */
function sampleServer(server: SampleServer = {}) {
  const sent: unknown[] = [];
  let session = 1;
  const { status = "connected", era = "legacy", capabilities = { logging: {} }, fails = false } = server;
  const connection = {
    name: "one",
    state: { status, peer: { era } },
    capabilities,
    get connectionId() {
      return String(session);
    },
  } as unknown as Connection;
  const gateway = {
    forward: (request: unknown, { timeout }: ForwardOptions) => {
      sent.push([request, timeout]);
      return fails ? Promise.reject(new Error("no")) : Promise.resolve({});
    },
  } as unknown as GatewayHost;
  return {
    gateway,
    connection,
    sent,
    reconnect: () => {
      session += 1;
    },
  };
}

const client = { name: "tester", conversation: "1" };
const request = (level: string): unknown => [
  { client, server: "one", method: "logging/setLevel", params: { level } },
  10_000,
];

function applies(
  levels: ReturnType<typeof createUpstreamLevels>,
  { gateway, connection }: Pick<ReturnType<typeof sampleServer>, "gateway" | "connection">,
  logLevel?: string,
): void {
  levels.apply(gateway, connection, client, { logLevel, signal: new AbortController().signal });
}

test("a server gets the lowest level that any client wants, and gets it once for each connection", async () => {
  const server = sampleServer();
  const { sent, reconnect } = server;
  const levels = createUpstreamLevels();
  applies(levels, server);
  expect(sent).toEqual([]);
  levels.set("a", "warning");
  levels.set("b", "error");
  for (const level of [undefined, undefined, "critical", "info", "info"]) applies(levels, server, level);
  expect(sent).toEqual([request("warning"), request("info")]);
  levels.set("a", undefined);
  applies(levels, server);
  reconnect();
  applies(levels, server);
  expect(sent.slice(2)).toEqual([request("error"), request("error")]);
  levels.set("b", undefined);
  applies(levels, server);
  expect(sent).toHaveLength(4);
});

test("two connections to servers of the same name each get the level", () => {
  const [first, second] = [sampleServer(), sampleServer()];
  const levels = createUpstreamLevels();
  for (const server of [first, second]) applies(levels, server, "info");
  expect([first.sent, second.sent]).toEqual([[request("info")], [request("info")]]);
});

test.each<[string, SampleServer]>([
  ["is not connected", { status: "connecting" }],
  ["is modern", { era: "modern" }],
  ["does not declare logging", { capabilities: { tools: {} } }],
])("a server that %s gets no level", (_, given) => {
  const server = sampleServer(given);
  applies(createUpstreamLevels(), server, "info");
  expect(server.sent).toEqual([]);
});

test("a server that refuses the level is not asked again", async () => {
  const server = sampleServer({ fails: true });
  const { sent } = server;
  const levels = createUpstreamLevels();
  applies(levels, server, "info");
  await new Promise(setImmediate);
  applies(levels, server, "info");
  expect(sent).toEqual([request("info")]);
});
