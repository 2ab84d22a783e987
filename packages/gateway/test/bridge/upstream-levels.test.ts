import type { ForwardOptions } from "@fairlead/core/host/gateway-types";
import type { Host } from "@fairlead/core/host/types";
import { expect, test } from "vitest";
import { createUpstreamLevels } from "../../src/bridge/upstream-levels.ts";

test("a server that does not answer to a log level is asked again only if the request was cancelled", async () => {
  const given: ForwardOptions[] = [];
  const host = {
    states: () => [{ name: "one", status: "connected", since: 1, peer: { era: "legacy" } }],
    serverFacts: () => ({ capabilities: { logging: {} } }),
    forward: (_request: unknown, options: ForwardOptions) => {
      given.push(options);
      return new Promise((_, reject) => {
        options.signal?.addEventListener("abort", () => reject(new Error("cancelled")));
      });
    },
  } as unknown as Host;
  const levels = createUpstreamLevels();
  const client = { name: "tester", conversation: "1" };
  const cancelled = new AbortController();
  const apply = (signal: AbortSignal): void => levels.apply(host, "one", client, { logLevel: "info", signal });
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
  readonly since?: number;
  readonly era?: string;
  readonly capabilities?: object;
  readonly fails?: boolean;
}

/** A host with the servers `other` and `one`. `sent`: the requests that it has got. */
function sampleHost(server: SampleServer = {}) {
  const sent: unknown[] = [];
  let { since = 1 } = server;
  const { status = "connected", era = "legacy", capabilities = { logging: {} }, fails = false } = server;
  const host = {
    states: () => [
      { name: "other", status: "connected", since: 1, peer: { era: "modern" } },
      { name: "one", status, since, peer: { era } },
    ],
    serverFacts: (name: string) => (name === "one" ? { capabilities } : undefined),
    forward: (request: unknown, { timeout }: ForwardOptions) => {
      sent.push([request, timeout]);
      return fails ? Promise.reject(new Error("no")) : Promise.resolve({});
    },
  } as unknown as Host;
  return {
    host,
    sent,
    reconnect: () => {
      since += 1;
    },
  };
}

const client = { name: "tester", conversation: "1" };
const request = (level: string): unknown => [
  { client, server: "one", method: "logging/setLevel", params: { level } },
  10_000,
];

function applies(levels: ReturnType<typeof createUpstreamLevels>, host: Host, logLevel?: string): void {
  levels.apply(host, "one", client, { logLevel, signal: new AbortController().signal });
}

test("a server gets the lowest level that any client wants, and gets it once for each connection", async () => {
  const { host, sent, reconnect } = sampleHost();
  const levels = createUpstreamLevels();
  applies(levels, host);
  expect(sent).toEqual([]);
  levels.set("a", "warning");
  levels.set("b", "error");
  for (const level of [undefined, undefined, "critical", "info", "info"]) applies(levels, host, level);
  expect(sent).toEqual([request("warning"), request("info")]);
  levels.set("a", undefined);
  applies(levels, host);
  reconnect();
  applies(levels, host);
  expect(sent.slice(2)).toEqual([request("error"), request("error")]);
  levels.set("b", undefined);
  applies(levels, host);
  expect(sent).toHaveLength(4);
});

test("two hosts with a server of the same name each get the level", () => {
  const [first, second] = [sampleHost(), sampleHost()];
  const levels = createUpstreamLevels();
  for (const { host } of [first, second]) applies(levels, host, "info");
  expect([first.sent, second.sent]).toEqual([[request("info")], [request("info")]]);
});

test.each<[string, SampleServer]>([
  ["is not connected", { status: "connecting" }],
  ["is modern", { era: "modern" }],
  ["does not declare logging", { capabilities: { tools: {} } }],
])("a server that %s gets no level", (_, server) => {
  const { host, sent } = sampleHost(server);
  applies(createUpstreamLevels(), host, "info");
  expect(sent).toEqual([]);
});

test("a server that refuses the level is not asked again", async () => {
  const { host, sent } = sampleHost({ fails: true });
  const levels = createUpstreamLevels();
  applies(levels, host, "info");
  await new Promise(setImmediate);
  applies(levels, host, "info");
  expect(sent).toEqual([request("info")]);
});
