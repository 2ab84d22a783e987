/** The exporter with a collector over HTTP: one that works, is dead, slow or busy, or rejects. */

import { type Collector, collector } from "@fairlead/test-servers";
import { afterEach, expect, test } from "vitest";
import type { Clock } from "../../src/clock.ts";
import { openExporter } from "../../src/telemetry/exporter.ts";

type Exporter = NonNullable<ReturnType<typeof openExporter>>;

interface Opened {
  readonly exporter: Exporter;
  readonly warned: string[];
  readonly printed: string[];
}

const closing: Exporter[] = [];
afterEach(async () => {
  for (const exporter of closing.splice(0)) await exporter.close();
});

function open(env: Readonly<Record<string, string>>, clock?: Clock): Opened {
  const warned: string[] = [];
  const printed: string[] = [];
  const exporter = openExporter({
    env,
    version: "1.2.3",
    instance: "this",
    warn: (message) => warned.push(message),
    print: (line) => printed.push(line),
    clock,
  });
  if (exporter === undefined) throw new Error(`the environment asks for nothing: ${warned.join()}`);
  closing.push(exporter);
  return { exporter, warned, printed };
}

/** Timers run when the test says so, as if their time had passed. */
function handClock(): Clock & { readonly waits: readonly number[]; pass(wait: number): void } {
  const timers = new Map<() => void, number>();
  return {
    now: () => 0,
    after(wait, action) {
      const timer = (): void => {
        timers.delete(timer);
        action();
      };
      timers.set(timer, wait);
      return () => timers.delete(timer);
    },
    get waits() {
      return [...timers.values()].sort((one, other) => one - other);
    },
    pass(wait) {
      for (const timer of [...timers].filter(([, due]) => due <= wait).map(([each]) => each)) timer();
    },
  };
}

const to = ({ endpoint }: Collector) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });

function end({ exporter }: Opened, count = 1, name = "work"): void {
  for (let at = 0; at < count; at += 1) exporter.telemetry.startSpan(name, { kind: "internal" }).end();
}

test("spans and metrics reach the collector as OTLP, with the length of the body", async () => {
  await using there = await collector();
  const opened = open({
    ...to(there),
    OTEL_SERVICE_NAME: "mine",
    OTEL_RESOURCE_ATTRIBUTES: "team=a%20b,service.name=other",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20x,x-a=1",
  });
  const { telemetry } = opened.exporter;
  const context = { traceId: "a".repeat(32), spanId: "b".repeat(16), isSampled: true, traceState: "x=1" };
  const link = { traceId: "c".repeat(32), spanId: "d".repeat(16), isSampled: true };
  const attributes = { text: "half \ud83d", whole: 3, part: 1.5, yes: true, none: undefined };
  telemetry
    .startSpan("tools/call greet", { kind: "client", parent: context, links: [link], attributes })
    .end("it failed");
  telemetry.record("mcp.client.operation.duration", 0.02, { "mcp.method.name": "tools/call" });
  telemetry.metrics.counter("things", { description: "Things." }).add(2);
  telemetry.metrics.gauge("level", { description: "A level." }).set(0.5);
  await opened.exporter.close();
  expect(there.requests.map(({ path }) => path)).toEqual(["/v1/traces", "/v1/metrics"]);
  const [traces, metrics] = there.requests;
  expect(traces?.headers).toMatchObject({
    "content-type": "application/json",
    "content-length": expect.stringMatching(/^\d+$/),
    authorization: "Bearer x",
    "x-a": "1",
  });
  expect(traces?.headers).not.toHaveProperty("transfer-encoding");
  const pair = (key: string, value: object): object => ({ key, value });
  expect(traces?.body).toEqual({
    resourceSpans: [
      {
        resource: {
          attributes: [
            pair("service.version", { stringValue: "1.2.3" }),
            pair("service.instance.id", { stringValue: "this" }),
            pair("service.name", { stringValue: "mine" }),
            pair("team", { stringValue: "a b" }),
            pair("telemetry.sdk.name", { stringValue: "fairlead" }),
            pair("telemetry.sdk.language", { stringValue: "nodejs" }),
            pair("telemetry.sdk.version", { stringValue: "1.2.3" }),
          ],
        },
        scopeSpans: [
          {
            scope: { name: "fairlead", version: "1.2.3" },
            spans: [
              {
                traceId: context.traceId,
                spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
                parentSpanId: context.spanId,
                traceState: "x=1",
                name: "tools/call greet",
                kind: 3,
                startTimeUnixNano: expect.stringMatching(/^\d{19}$/),
                endTimeUnixNano: expect.stringMatching(/^\d{19}$/),
                attributes: [
                  pair("text", { stringValue: "half \ufffd" }),
                  pair("whole", { intValue: "3" }),
                  pair("part", { doubleValue: 1.5 }),
                  pair("yes", { boolValue: true }),
                ],
                links: [{ traceId: link.traceId, spanId: link.spanId }],
                status: { code: 2, message: "it failed" },
              },
            ],
          },
        ],
      },
    ],
  });
  const [resource] = (metrics?.body.resourceMetrics ?? []) as { scopeMetrics: { metrics: object[] }[] }[];
  const times = { startTimeUnixNano: expect.any(String), timeUnixNano: expect.any(String) };
  expect(resource?.scopeMetrics[0]?.metrics).toEqual([
    {
      name: "mcp.client.operation.duration",
      description: expect.any(String),
      unit: "s",
      histogram: {
        aggregationTemporality: 2,
        dataPoints: [
          {
            ...times,
            attributes: [pair("mcp.method.name", { stringValue: "tools/call" })],
            count: "1",
            sum: 0.02,
            bucketCounts: ["0", "1", ...Array.from({ length: 13 }, () => "0")],
            explicitBounds: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300],
          },
        ],
      },
    },
    {
      name: "things",
      description: "Things.",
      unit: "",
      sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ ...times, attributes: [], asDouble: 2 }] },
    },
    {
      name: "level",
      description: "A level.",
      unit: "",
      gauge: { dataPoints: [{ ...times, attributes: [], asDouble: 0.5 }] },
    },
  ]);
});

test("compressed bodies have a length too, and arrive whole", async () => {
  await using there = await collector();
  const opened = open({ ...to(there), OTEL_EXPORTER_OTLP_COMPRESSION: "gzip" });
  end(opened, 3);
  await opened.exporter.close();
  expect(there.requests[0]?.headers).toMatchObject({
    "content-encoding": "gzip",
    "content-length": expect.any(String),
  });
  expect(there.spans()).toHaveLength(3);
});

test("a batch is sent when 512 spans wait, the others after 5 s; metrics every minute", async () => {
  await using there = await collector();
  const clock = handClock();
  const opened = open(to(there), clock);
  end(opened, 511);
  expect(there.requests).toHaveLength(0);
  end(opened, 2);
  await there.received(1);
  expect(there.spans()).toHaveLength(512);
  await expect.poll(() => clock.waits).toEqual([5000, 60_000]);
  clock.pass(5000);
  await there.received(2);
  expect(there.spans()).toHaveLength(513);
  opened.exporter.telemetry.record("mcp.client.operation.duration", 1, {});
  clock.pass(60_000);
  await there.received(3);
  expect(there.metrics()).toEqual(["mcp.client.operation.duration"]);
});

test("a busy collector gets the batch again, when it says so; a program that ends does not wait for that", async () => {
  const busy = [429, 503];
  await using there = await collector((response, count) => {
    response.statusCode = busy[count - 1] ?? 200;
    if (count === 1) response.setHeader("retry-after", "7");
    response.end("{}");
  });
  const clock = handClock();
  const opened = open({ ...to(there), OTEL_METRICS_EXPORTER: "none", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "1" }, clock);
  end(opened);
  await there.received(1);
  await expect.poll(() => clock.waits).toEqual([7000, 10_000]);
  clock.pass(7000);
  await there.received(2);
  await expect.poll(() => clock.waits.length).toBe(2);
  clock.pass(2000);
  await there.received(3);
  expect(opened.warned).toEqual([]);
  expect(there.spans().map(({ name }) => name)).toEqual(["work", "work", "work"]);
});

test("a collector that refuses, or rejects a part, is told about once, and the spans are counted", async () => {
  await using there = await collector((response, count) => {
    if (count < 3) {
      response.statusCode = 400;
      response.end("no");
    } else response.end(JSON.stringify({ partialSuccess: { rejectedSpans: "1", errorMessage: "too \u001b[31mold" } }));
  });
  const opened = open({ ...to(there), OTEL_METRICS_EXPORTER: "none", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "2" });
  for (let batch = 1; batch <= 4; batch += 1) {
    end(opened, 2);
    await there.received(batch);
  }
  await opened.exporter.close();
  expect(opened.warned).toEqual([
    `${there.endpoint} answered with the status 400, so spans or metrics were not exported; Fairlead sends JSON (OTLP over HTTP)`,
    `${there.endpoint} rejected 1 spans or values: too \u001b[31mold`,
  ]);
  const { metrics } = opened.exporter.telemetry.metrics.collect();
  expect(metrics[0]).toMatchObject({
    name: "fairlead.dropped_spans",
    points: [
      { attributes: { reason: "failed" }, value: 4 },
      { attributes: { reason: "rejected" }, value: 2 },
    ],
  });
});

test("a dead collector costs one message, and holds a bounded number of spans", async () => {
  const there = await collector();
  await there[Symbol.asyncDispose]();
  const clock = handClock();
  const opened = open({ ...to(there), OTEL_METRICS_EXPORTER: "none", OTEL_BSP_MAX_QUEUE_SIZE: "600" }, clock);
  end(opened, 512);
  end(opened, 700);
  expect(opened.warned).toEqual(["spans are made faster than they can be sent, so some are dropped"]);
  // The first attempt has failed, and the next one waits.
  await expect.poll(() => clock.waits.some((wait) => wait <= 1000)).toBe(true);
  clock.pass(10_000);
  await expect.poll(() => opened.warned.length).toBe(2);
  await opened.exporter.close();
  expect(opened.warned).toEqual([expect.any(String), expect.stringContaining("ECONNREFUSED")]);
  const { metrics } = opened.exporter.telemetry.metrics.collect();
  expect(metrics[0]?.points).toEqual([
    { attributes: { reason: "queue_full" }, value: 100 },
    { attributes: { reason: "failed" }, value: 1112 },
  ]);
});

test("a collector that never answers delays the end by two seconds at most", async () => {
  await using there = await collector(() => {});
  const clock = handClock();
  const opened = open(to(there), clock);
  end(opened);
  opened.exporter.telemetry.record("mcp.client.operation.duration", 1, {});
  const closed = opened.exporter.close();
  await there.received(1);
  clock.pass(2000);
  await closed;
  expect(opened.warned).toEqual([`spans or metrics were not exported: ${there.endpoint} did not answer in time`]);
});

test("spans and metrics can be written as lines instead", async () => {
  const opened = open({ OTEL_TRACES_EXPORTER: "console", OTEL_METRICS_EXPORTER: "console" });
  end(opened);
  opened.exporter.telemetry.record("mcp.client.operation.duration", 1, {});
  await opened.exporter.close();
  expect(opened.printed.map((line) => Object.keys(JSON.parse(line) as object))).toEqual([
    ["resourceSpans"],
    ["resourceMetrics"],
  ]);
});

test("the proxy of the environment is used, but not for exempt hosts", async () => {
  await using there = await collector();
  const env = { ...to(there), OTEL_METRICS_EXPORTER: "none", HTTP_PROXY: "http://127.0.0.1:1" };
  const refused = open(env);
  end(refused);
  await refused.exporter.close();
  expect(refused.warned).toHaveLength(1);
  const exempt = open({ ...env, NO_PROXY: "127.0.0.1" });
  end(exempt);
  await exempt.exporter.close();
  expect(there.spans()).toHaveLength(1);
});
