/** Metrics of a process, and their text for Prometheus. */

import { expect, test } from "vitest";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { OwnTelemetry } from "../../src/telemetry/own-telemetry.ts";
import { prometheusText } from "../../src/telemetry/prometheus.ts";

test("counters, gauges and histograms are lines of text", () => {
  const metrics = new Metrics();
  const refreshes = metrics.counter("fairlead_refresh_total", { description: "Renewed tokens.\nBy result." });
  refreshes.add();
  refreshes.add(2, { result: "reused" });
  refreshes.add(1, { result: "reused" });
  metrics.gauge("fairlead.policy.age", { description: "Age of the policy.", unit: "s" }).set(1.5);
  metrics.gauge("fairlead.leases", { description: "Leases." }, () => [
    { attributes: { server: 'a"\\\n' }, value: 3 },
    { attributes: { server: "b" }, value: 0 },
  ]);
  const rows = metrics.histogram("fairlead_store_batch_rows", { description: "Rows of a batch." }, [1, 10]);
  for (const value of [1, 2, 10, 11]) rows.record(value);
  expect(prometheusText(metrics.collect())).toBe(
    [
      "# HELP fairlead_refresh_total Renewed tokens.\\nBy result.",
      "# TYPE fairlead_refresh_total counter",
      "fairlead_refresh_total 1",
      'fairlead_refresh_total{result="reused"} 3',
      "# HELP fairlead_policy_age_seconds Age of the policy.",
      "# TYPE fairlead_policy_age_seconds gauge",
      "fairlead_policy_age_seconds 1.5",
      "# HELP fairlead_leases Leases.",
      "# TYPE fairlead_leases gauge",
      'fairlead_leases{server="a\\"\\\\\\n"} 3',
      'fairlead_leases{server="b"} 0',
      "# HELP fairlead_store_batch_rows Rows of a batch.",
      "# TYPE fairlead_store_batch_rows histogram",
      'fairlead_store_batch_rows_bucket{le="1"} 1',
      'fairlead_store_batch_rows_bucket{le="10"} 3',
      'fairlead_store_batch_rows_bucket{le="+Inf"} 4',
      "fairlead_store_batch_rows_sum 24",
      "fairlead_store_batch_rows_count 4",
      "",
    ].join("\n"),
  );
});

test("requests have the labels server, tool, method, decision and outcome, and nothing else", () => {
  const telemetry = new OwnTelemetry();
  const request = {
    "mcp.method.name": "tools/call",
    "gen_ai.tool.name": "greet",
    "gen_ai.operation.name": "execute_tool",
    "fairlead.server": "demo",
    "fairlead.decision": "allow",
  };
  telemetry.record("mcp.server.operation.duration", 0.25, { ...request, "mcp.protocol.version": "2025-11-25" });
  telemetry.record("mcp.server.operation.duration", 0.5, { ...request, "mcp.protocol.version": "2026-07-28" });
  telemetry.record("mcp.server.operation.duration", 3, { ...request, "error.type": "timeout" });
  telemetry.record("mcp.server.operation.duration", 0.1, {
    ...request,
    "fairlead.decision": "deny",
    "fairlead.outcome": "denied",
    "error.type": "tool_error",
  });
  const text = prometheusText(telemetry.metrics.collect());
  expect(text).toContain('decision="deny",outcome="denied"} 0.1');
  const labels = 'method="tools/call",tool="greet",server="demo",decision="allow"';
  expect(
    text.split("\n").filter((line) => /decision="allow".*(le="0.5"|} )/.test(line) && !/le="(?!0.5")/.test(line)),
  ).toEqual([
    `mcp_server_operation_duration_seconds_bucket{${labels},outcome="ok",le="0.5"} 2`,
    `mcp_server_operation_duration_seconds_sum{${labels},outcome="ok"} 0.75`,
    `mcp_server_operation_duration_seconds_count{${labels},outcome="ok"} 2`,
    `mcp_server_operation_duration_seconds_bucket{${labels},outcome="timeout",le="0.5"} 0`,
    `mcp_server_operation_duration_seconds_sum{${labels},outcome="timeout"} 3`,
    `mcp_server_operation_duration_seconds_count{${labels},outcome="timeout"} 1`,
  ]);
});

test("a metric has a bounded number of time series", () => {
  const metrics = new Metrics();
  const counter = metrics.counter("calls", { description: "Calls." });
  for (let tool = 0; tool < 1100; tool += 1) counter.add(1, { tool: `invented-${tool}` });
  const {
    metrics: [calls],
  } = metrics.collect();
  expect(calls?.points).toHaveLength(1001);
  expect(calls?.points.at(-1)).toEqual({ attributes: { "otel.metric.overflow": true }, value: 100 });
});

test("a name belongs to one kind of metric", () => {
  const metrics = new Metrics();
  metrics.counter("calls", { description: "Calls." });
  expect(() => metrics.gauge("calls", { description: "Calls." })).toThrow("the metric calls is no gauge");
  expect(() => metrics.histogram("calls", { description: "Calls." })).toThrow("the metric calls is no histogram");
});
