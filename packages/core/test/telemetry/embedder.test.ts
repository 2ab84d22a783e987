/** A program with an OpenTelemetry SDK of its own gets the spans and the durations of its host. */

import { AsyncLocalStorage } from "node:async_hooks";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import {
  type Context,
  type ContextManager,
  context,
  metrics,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHost, type Host } from "../../src/index.ts";

/** As `@opentelemetry/context-async-hooks` does it. */
class LocalContext implements ContextManager {
  readonly #local = new AsyncLocalStorage<Context>();
  active = (): Context => this.#local.getStore() ?? ROOT_CONTEXT;
  with: ContextManager["with"] = (given, work, self, ...args) =>
    this.#local.run(given, () => work.call(self as never, ...args));
  bind: ContextManager["bind"] = (_, target) => target;
  enable = (): this => this;
  disable = (): this => this;
}

let exporter: InMemorySpanExporter;
let provider: BasicTracerProvider;

beforeEach(() => {
  exporter = new InMemorySpanExporter();
  provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
});
afterEach(async () => {
  trace.disable();
  context.disable();
  metrics.disable();
  await provider.shutdown();
});

function register(): void {
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new LocalContext());
}

async function open({ path: home }: TemporaryFolder, era: "legacy" | "modern" = "legacy"): Promise<Host> {
  const environment = { env: { PATH: process.env["PATH"] }, home, cwd: home, platform: process.platform };
  const mcpServers = { s: stdioServer("traced", era) };
  return createHost({ settings: { mcpServers }, workspace: false, environment, recover: false });
}

/** Lines such as `  client tools/call meta`, children below their parents, in the order of their beginning. */
function tree(spans: readonly ReadableSpan[], parent?: string, indent = ""): readonly string[] {
  const known = new Set(spans.map((span) => span.spanContext().spanId));
  const above = (span: ReadableSpan): string | undefined => {
    const id = span.parentSpanContext?.spanId;
    return id !== undefined && known.has(id) ? id : undefined;
  };
  return spans
    .filter((span) => above(span) === parent)
    .flatMap((span) => [
      `${indent}${SpanKind[span.kind].toLowerCase()} ${span.name}`,
      ...tree(spans, span.spanContext().spanId, `${indent}  `),
    ]);
}

/** The spans in the order in which they began. */
function ended(): readonly ReadableSpan[] {
  const at = ({ startTime: [seconds, nanos] }: ReadableSpan): number => seconds * 1e9 + nanos;
  return exporter.getFinishedSpans().toSorted((one, other) => at(one) - at(other));
}

test("without an SDK, a host makes no spans and sends no context", async () => {
  await using folder = await temporaryFolder();
  await using host = await open(folder);
  expect((await host.call("s", "meta")).content).toEqual([{ type: "text", text: "{}" }]);
  expect(ended()).toEqual([]);
});

test.each(["legacy", "modern"] as const)("spans of a %s server are children of the program's span", async (era) => {
  register();
  await using folder = await temporaryFolder();
  await using host = await open(folder, era);
  const outer = trace.getTracer("program").startSpan("work");
  const { content } = await context.with(trace.setSpan(context.active(), outer), () => host.call("s", "meta"));
  outer.end();
  const spans = ended();
  const greeting = era === "legacy" ? "initialize" : "server/discover";
  expect(tree(spans)).toEqual([
    "internal work",
    "  internal fairlead decide",
    "  internal fairlead connect",
    `    client ${greeting}`,
    "    client tools/list",
    "    client prompts/list",
    "    client resources/list",
    "    client resources/templates/list",
    "  internal fairlead decide",
    "  client tools/call meta",
  ]);
  const call = spans.find(({ name }) => name === "tools/call meta");
  expect(call?.attributes).toEqual({
    "mcp.method.name": "tools/call",
    "gen_ai.tool.name": "meta",
    "gen_ai.operation.name": "execute_tool",
    "jsonrpc.request.id": expect.stringMatching(/^\d+$/),
    "mcp.protocol.version": era === "legacy" ? "2025-11-25" : "2026-07-28",
    "network.transport": "pipe",
    "fairlead.server": "s",
  });
  const { traceId, spanId } = call?.spanContext() ?? {};
  const sent = JSON.stringify({ traceparent: `00-${traceId}-${spanId}-01` });
  expect(content).toEqual([{ type: "text", text: sent }]);
});

test("a host that is older than the SDK makes spans too; without a span of the program, a request has its own", async () => {
  await using folder = await temporaryFolder();
  await using host = await open(folder);
  await host.call("s", "meta");
  register();
  await host.call("s", "meta");
  expect(tree(ended())).toEqual(["internal fairlead run", "  internal fairlead decide", "  client tools/call meta"]);
});

test("servers that a host starts without a request have spans", async () => {
  register();
  await using folder = await temporaryFolder();
  await using host = await open(folder);
  await host.start();
  expect(tree(ended()).slice(0, 2)).toEqual(["internal fairlead connect", "  client initialize"]);
});

test("a program's span for the model's tool call gets the attributes instead of a second span", async () => {
  await using folder = await temporaryFolder();
  await using host = await open(folder);
  await host.start();
  register();
  const attributes = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "meta" };
  const outer = trace.getTracer("program").startSpan("execute_tool meta", { attributes });
  await context.with(trace.setSpan(context.active(), outer), () => host.call("s", "meta"));
  outer.end();
  const spans = ended();
  expect(tree(spans)).toEqual(["internal execute_tool meta", "  internal fairlead decide"]);
  expect(spans.find(({ name }) => name === "execute_tool meta")?.attributes).toMatchObject({
    ...attributes,
    "mcp.method.name": "tools/call",
    "fairlead.server": "s",
  });
});

test("a failed call has the status and the type of its error", async () => {
  register();
  await using folder = await temporaryFolder();
  await using host = await open(folder);
  await host.call("s", "fail");
  await expect(host.call("s", "wrong")).rejects.toThrow("no wrong here");
  await expect(host.call("s", "wait", {}, { timeout: 50 })).rejects.toThrow("timed out");
  const calls = ended().filter(({ name }) => name.startsWith("tools/call"));
  expect(calls.map(({ name, status, attributes }) => [name, status.code, attributes["error.type"]])).toEqual([
    ["tools/call fail", SpanStatusCode.ERROR, "tool_error"],
    ["tools/call wrong", SpanStatusCode.ERROR, "-32602"],
    ["tools/call wait", SpanStatusCode.ERROR, "timeout"],
  ]);
  expect(calls[1]?.attributes["rpc.response.status_code"]).toBe("-32602");
  expect(calls[1]?.status.message).toContain("no wrong here");
});

test("durations go to the program's meter, with the buckets of the conventions", async () => {
  const collected = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: collected, exportIntervalMillis: 2 ** 30 });
  const meters = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(meters);
  {
    await using folder = await temporaryFolder();
    await using host = await open(folder);
    await host.call("s", "fail");
  }
  await reader.forceFlush();
  const found = collected.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  const operations = found.find(({ descriptor }) => descriptor.name === "mcp.client.operation.duration");
  expect(operations?.descriptor.unit).toBe("s");
  const point = operations?.dataPoints.find(({ attributes }) => attributes["gen_ai.tool.name"] === "fail");
  expect(point?.attributes).toEqual({
    "mcp.method.name": "tools/call",
    "fairlead.server": "s",
    "gen_ai.tool.name": "fail",
    "gen_ai.operation.name": "execute_tool",
    "mcp.protocol.version": "2025-11-25",
    "network.transport": "pipe",
    "error.type": "tool_error",
  });
  expect(point?.value).toMatchObject({
    count: 1,
    buckets: { boundaries: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] },
  });
  expect(found.map(({ descriptor }) => descriptor.name)).toContain("mcp.client.session.duration");
  await meters.shutdown();
});
