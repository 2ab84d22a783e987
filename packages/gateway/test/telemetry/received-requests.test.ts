/** The spans of what clients of the gateway send, from the client to the server behind it. */

import { type EndedSpan, OwnTelemetry, type OwnTelemetryOptions } from "@fairlead/core/telemetry/own-telemetry";
import { spanTree, stdioServer, until, withErrors } from "@fairlead/test-servers";
import type { Era, JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { answerTo } from "../conformance/raw-client.ts";
import { type GatewayScene, gatewayScene, type SceneOptions } from "../support/gateway-scene.ts";
import { lineClient } from "../support/line-client.ts";
import { metricNames, spanNames } from "./convention-names.ts";

interface TracedScene extends GatewayScene {
  readonly telemetry: OwnTelemetry;
  readonly spans: EndedSpan[];
}

type Given = Pick<SceneOptions, "rules" | "fairlead"> &
  OwnTelemetryOptions & { readonly server?: Era; readonly timeout?: number };

async function scene({ rules, fairlead, server = "legacy", timeout, ...options }: Given = {}): Promise<TracedScene> {
  const spans: EndedSpan[] = [];
  const telemetry = new OwnTelemetry({ onSpan: (span) => spans.push(span), ...options });
  const given = { ...(rules !== undefined && { rules }), ...(fairlead && { fairlead }) };
  const here = await gatewayScene({
    servers: { s: { ...stdioServer("traced", server), ...(timeout && { timeout }) } },
    telemetry,
    ...given,
  });
  return { ...here, telemetry, spans };
}

const traceId = "a".repeat(32);
const traceparent = `00-${traceId}-${"b".repeat(16)}-01`;
const other = `00-${"c".repeat(32)}-${"d".repeat(16)}-01`;
const key = "io.modelcontextprotocol/";
const modernMeta = { [`${key}protocolVersion`]: "2026-07-28", [`${key}clientCapabilities`]: {} };

/** What the server got as `_meta` of a call of its tool `meta`. */
function metaIn(result: JsonObject): JsonObject {
  const [content] = result["content"] as readonly { readonly text: string }[];
  return JSON.parse(content?.text ?? "{}") as JsonObject;
}

const eras = ["legacy", "modern"] as const;
const meetings = eras.flatMap((era) => eras.map((server) => [era, server] as const));

test.each(meetings)("a call of a %s client on stdio to a %s server: received, decided, sent", async (era, server) => {
  await using here = await scene({ server });
  await using client = await lineClient(here, era);
  await client.request("tools/call", { name: "meta", ...(era === "modern" && { _meta: modernMeta }) });
  here.spans.length = 0;
  const _meta = { ...(era === "modern" && modernMeta), traceparent, tracestate: "x=1" };
  const got = metaIn(await client.request("tools/call", { name: "meta", _meta }));
  expect(spanTree(here.spans)).toEqual([
    "server tools/call meta",
    "  internal fairlead decide",
    "  client tools/call meta",
  ]);
  const [decided, sent, received] = here.spans;
  expect(received).toMatchObject({ parentSpanId: "b".repeat(16), context: { traceId }, links: [] });
  expect(got).toEqual({ traceparent: `00-${traceId}-${sent?.context.spanId}-01`, tracestate: "x=1" });
  expect(received?.attributes).toEqual({
    "mcp.method.name": "tools/call",
    "gen_ai.tool.name": "meta",
    "gen_ai.operation.name": "execute_tool",
    "jsonrpc.request.id": expect.stringMatching(/^\d$/),
    "mcp.protocol.version": era === "modern" ? "2026-07-28" : "2025-11-25",
    "network.transport": "pipe",
    "fairlead.client": "lines",
    "fairlead.server": "s",
    "fairlead.decision": "allow",
    "fairlead.outcome": "ok",
  });
  expect(decided?.attributes["fairlead.rule"]).toMatch(/user\.toml:\d+/);
});

test.each(eras)(
  "over HTTP, the header of a %s client is a link, or the parent if _meta has no context",
  async (era) => {
    await using here = await scene();
    const client = await here.client({ era, headers: { traceparent: other } });
    await client.request("tools/call", { name: "meta" });
    here.spans.length = 0;
    await client.request("tools/call", { name: "meta" });
    const byHeader = here.spans.find(({ kind }) => kind === "server");
    expect(byHeader).toMatchObject({ parentSpanId: "d".repeat(16), context: { traceId: "c".repeat(32) }, links: [] });
    expect(byHeader?.attributes).toMatchObject({ "network.transport": "tcp", "network.protocol.name": "http" });
    here.spans.length = 0;
    await client.request("tools/call", { name: "meta" }, { meta: { traceparent } });
    expect(here.spans.find(({ kind }) => kind === "server")).toMatchObject({
      parentSpanId: "b".repeat(16),
      context: { traceId },
      links: [{ traceId: "c".repeat(32), spanId: "d".repeat(16) }],
    });
  },
);

test("a session id is only of legacy HTTP sessions, and is not the one that the client sends", async () => {
  await using here = await scene();
  const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
  const { session = "" } = await answerTo(here.url, { method: "initialize", params: initialize, era: "legacy" });
  await answerTo(here.url, { method: "tools/list", era: "legacy", headers: { "mcp-session-id": session } });
  await answerTo(here.url, { method: "tools/list" });
  const [greeted, listed, modern] = here.spans.filter(({ kind }) => kind === "server");
  const id = greeted?.attributes["mcp.session.id"];
  expect(greeted?.name).toBe("initialize");
  expect(id).toMatch(/^[\da-f-]{36}$/);
  expect(id).not.toBe(session);
  expect(listed?.attributes).toMatchObject({ "mcp.session.id": id, "mcp.protocol.version": "2025-11-25" });
  expect(modern?.attributes["mcp.session.id"]).toBeUndefined();
});

test("a call that waits for a person has a span for that time, also if the inbox is the place", async () => {
  await using here = await scene({ rules: "" });
  const watching = await here.inbox.watch(() => {});
  await using client = await lineClient(here, "legacy");
  const called = client.request("tools/call", { name: "meta", _meta: { traceparent } });
  await until(async () => (await here.inbox.list()).length > 0);
  const [entry] = await here.inbox.list();
  await here.inbox.answer(entry?.id ?? "", "once", "fairlead approvals");
  await called;
  await watching[Symbol.asyncDispose]();
  const own = here.spans.filter(({ context }) => context.traceId === traceId);
  expect(spanTree(own)).toEqual([
    "server tools/call meta",
    "  internal fairlead decide",
    "  internal fairlead ask",
    "  client tools/call meta",
  ]);
  expect(own.find(({ name }) => name === "fairlead ask")?.attributes).toMatchObject({
    "fairlead.approval.wait_ms": expect.any(Number),
    "fairlead.approval.place": "inbox",
  });
});

test("failed requests: denied, reported by the tool, refused; reads and prompts", async () => {
  await using here = await scene({ fairlead: { permissions: { denyTools: ["echo"] } } });
  await using client = await lineClient(here, "legacy");
  await client.request("tools/list");
  here.spans.length = 0;
  await client.request("tools/call", { name: "echo" });
  await client.request("tools/call", { name: "fail" });
  await expect(client.request("tools/call", { name: "wrong" })).rejects.toThrow("no wrong here");
  await expect(client.request("tools/call", { name: "invented" })).rejects.toThrow("invented");
  await expect(client.request("invented/method")).rejects.toThrow("does not support");
  await client.request("resources/read", { uri: "traced://it" });
  await client.request("prompts/get", { name: "hello" });
  const own = here.spans.filter(({ name }) => name !== "fairlead decide");
  const shown = (span: EndedSpan): string => {
    const { "error.type": type = "", "rpc.response.status_code": code = "" } = span.attributes;
    return `${withErrors(span)} ${type} ${code}`.trimEnd();
  };
  expect(spanTree(own, shown)).toEqual([
    "server tools/call echo [tool_error] tool_error",
    "server tools/call fail [tool_error] tool_error",
    "  client tools/call fail [tool_error] tool_error",
    // What a client asks for in a wrong way is no failure of the server.
    "server tools/call wrong  -32602",
    "  client tools/call wrong [-32602] -32602 -32602",
    "server tools/call invented  -32602",
    "server _OTHER  -32601",
    "server resources/read",
    "  client resources/read",
    "server prompts/get hello",
    "  client prompts/get hello",
  ]);
  const denied = own.find(({ name }) => name === "tools/call echo");
  expect(denied?.attributes).toMatchObject({ "fairlead.decision": "deny", "fairlead.outcome": "denied" });
  const read = own.find(({ name, kind }) => name === "resources/read" && kind === "server");
  expect(read?.attributes["mcp.resource.uri"]).toBe("traced://it");
});

test("a server that does not answer in time", async () => {
  await using here = await scene({ timeout: 3000 });
  await using client = await lineClient(here, "legacy");
  await client.request("tools/list");
  here.spans.length = 0;
  await expect(client.request("tools/call", { name: "wait" })).rejects.toThrow("timed out");
  expect(
    spanTree(
      here.spans.filter(({ name }) => name !== "fairlead decide"),
      withErrors,
    ),
  ).toEqual(["server tools/call wait [-32603]", "  client tools/call wait [timeout]"]);
  expect(here.spans.at(-1)?.attributes["fairlead.outcome"]).toBe("call_timeout");
});

test.each(eras)("all names are those of the conventions, or Fairlead's own (%s)", async (era) => {
  await using here = await scene({ server: era, fairlead: { telemetry: { arguments: true, results: true } } });
  const client = await here.client({ era, headers: { traceparent } });
  await client.request("tools/call", { name: "echo", arguments: { text: "x" } });
  await client.request("tools/call", { name: "fail" });
  await client.request("resources/read", { uri: "traced://it" });
  await client.request("prompts/get", { name: "hello", arguments: { who: "Ada" } });
  await expect(client.request("invented/method")).rejects.toThrow("does not support");
  const isOwn = (name: string): boolean => name.startsWith("fairlead.");
  for (const { kind, name, attributes } of here.spans)
    for (const [attribute, value] of Object.entries(attributes)) {
      const names = kind === "internal" ? [] : spanNames[kind];
      const isListed = names.some((each) => attribute === each || attribute.startsWith(`${each}.`));
      if (value !== undefined && !isOwn(attribute))
        expect([name, attribute, isListed]).toEqual([name, attribute, true]);
    }
  expect(here.spans.some(({ attributes }) => "gen_ai.prompt.variable.who" in attributes)).toBe(true);
  for (const { name, unit, points } of here.telemetry.metrics.collect().metrics) {
    expect([name, unit]).toEqual([expect.stringMatching(/^mcp\.(client|server)\.(operation|session)\.duration$/), "s"]);
    const names = metricNames[name] ?? [];
    for (const { attributes } of points)
      for (const [attribute, value] of Object.entries(attributes))
        if (value !== undefined && !isOwn(attribute)) expect([name, names.includes(attribute)]).toEqual([name, true]);
  }
});

test("a client that cancels its request gets no response, which is an error of type cancelled", async () => {
  await using here = await scene();
  const client = await here.client({ era: "legacy" });
  await client.request("tools/list");
  const stop = new AbortController();
  const waiting = client.request(
    "tools/call",
    { name: "wait" },
    { signal: stop.signal, onProgress: () => stop.abort() },
  );
  await expect(waiting).rejects.toMatchObject({ code: "cancelled" });
  await until(() => here.spans.some(({ name, kind }) => kind === "server" && name === "tools/call wait"));
  expect(
    here.spans.find(({ name, kind }) => kind === "server" && name === "tools/call wait")?.attributes,
  ).toMatchObject({ "error.type": "cancelled" });
});

test.each([
  ["no hex digits", { traceparent: `00-${"z".repeat(32)}-${"b".repeat(16)}-01` }],
  ["zeros", { traceparent: `00-${"0".repeat(32)}-${"b".repeat(16)}-01` }],
  ["too long", { traceparent: `${traceparent}-${"x".repeat(10_000)}` }],
  ["no text", { traceparent: { toString: "x" } }],
])("a context of a wrong form (%s) is neither used nor passed on", async (_, context) => {
  await using here = await scene();
  await using client = await lineClient(here, "legacy");
  const _meta = { ...context, tracestate: "x=1" };
  const got = metaIn(await client.request("tools/call", { name: "meta", _meta }));
  const received = here.spans.find(({ kind, name }) => kind === "server" && name === "tools/call meta");
  expect(received?.parentSpanId).toBeUndefined();
  expect(got["traceparent"]).toMatch(new RegExp(`^00-${received?.context.traceId}-[0-9a-f]{16}-01$`));
  expect(got["tracestate"]).toBeUndefined();
});

test("10 kB of tracestate are not passed on; the context beside it is", async () => {
  await using here = await scene();
  await using client = await lineClient(here, "legacy");
  const _meta = { traceparent, tracestate: `x=${"y".repeat(10_000)}` };
  const got = metaIn(await client.request("tools/call", { name: "meta", _meta }));
  expect(got["traceparent"]).toMatch(new RegExp(`^00-${traceId}-(?!b{16})`));
  expect(got["tracestate"]).toBeUndefined();
});

test("with metrics but no spans, the client's context reaches the server as it is", async () => {
  await using here = await scene({ onSpan: undefined });
  await using client = await lineClient(here, "legacy");
  const sent = { traceparent, tracestate: "x=1" };
  expect(metaIn(await client.request("tools/call", { name: "meta", _meta: sent }))).toEqual(sent);
  expect(metaIn(await client.request("tools/call", { name: "meta" }))).toEqual({});
});

test("durations: of requests by server, decision and outcome, without invented names, and of sessions", async () => {
  await using here = await scene();
  {
    await using client = await lineClient(here, "legacy");
    await client.request("tools/call", { name: "meta" });
    await expect(client.request("tools/call", { name: "invented" })).rejects.toThrow("invented");
  }
  const { metrics } = here.telemetry.metrics.collect();
  const points = (name: string): readonly unknown[] =>
    metrics.find((metric) => metric.name === name)?.points.map(({ attributes }) => attributes) ?? [];
  const call = { "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool" };
  expect(points("mcp.server.operation.duration")).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        ...call,
        "gen_ai.tool.name": "meta",
        "fairlead.server": "s",
        "fairlead.outcome": "ok",
      }),
      expect.objectContaining({ ...call, "gen_ai.tool.name": "_OTHER", "rpc.response.status_code": "-32602" }),
    ]),
  );
  expect(points("mcp.server.session.duration")).toEqual([
    { "mcp.protocol.version": "2025-11-25", "network.transport": "pipe", "error.type": undefined },
  ]);
});
