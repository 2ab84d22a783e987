/** Writes metrics as text for Prometheus, which asks for `/metrics`. */

import type { CollectedMetrics, HistogramPoint, Metric, NumberPoint } from "./metrics.ts";
import type { Attributes } from "./telemetry.ts";

/** The `content-type` of the text. */
export const prometheusType = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Labels for attributes of the conventions. Other attributes with a dot are left out: addresses, versions, ids. An attribute
 * that is already a plain word, such as `result`, is a label of this name. Nothing may name a person.
 */
const labels: { readonly [attribute: string]: string } = {
  "fairlead.server": "server",
  "gen_ai.tool.name": "tool",
  "mcp.method.name": "method",
  "fairlead.decision": "decision",
};
const word = /^[a-z][a-z0-9_]*$/;
const units: { readonly [unit: string]: string } = { s: "_seconds", By: "_bytes" };

/** Writes the metrics in Prometheus' text format. */
export function prometheusText({ metrics }: CollectedMetrics): string {
  return metrics.map(metricText).join("");
}

function metricText(metric: Metric): string {
  const name = nameOf(metric);
  const lines = [`# HELP ${name} ${escaped(metric.description)}`, `# TYPE ${name} ${metric.kind}`];
  if (metric.kind === "histogram")
    for (const [written, point] of merged<HistogramPoint>(metric.points, addHistograms)) {
      let count = 0;
      for (const [index, bound] of [...metric.bounds, "+Inf"].entries()) {
        count += point.buckets[index] ?? 0;
        lines.push(`${name}_bucket{${[written, `le="${bound}"`].filter(Boolean).join(",")}} ${count}`);
      }
      lines.push(`${name}_sum${braced(written)} ${point.sum}`, `${name}_count${braced(written)} ${point.count}`);
    }
  else
    for (const [written, { value }] of merged<NumberPoint>(metric.points, addNumbers))
      lines.push(`${name}${braced(written)} ${value}`);
  return `${lines.join("\n")}\n`;
}

/** Prometheus' names have the unit, and counters end with `_total`. */
function nameOf({ name, unit, kind }: Metric): string {
  const plain = name.replace(/_total$/, "").replaceAll(/[^a-zA-Z0-9_]/g, "_");
  const ending = units[unit] ?? "";
  return `${plain}${plain.endsWith(ending) ? "" : ending}${kind === "counter" ? "_total" : ""}`;
}

/** The points by their labels. Points that differ only in attributes without a label are one. */
function merged<Point extends { readonly attributes: Attributes }>(
  points: readonly Point[],
  add: (one: Point, other: Point) => Point,
): ReadonlyMap<string, Point> {
  const byLabels = new Map<string, Point>();
  for (const point of points) {
    const written = labelsOf(point.attributes);
    const before = byLabels.get(written);
    byLabels.set(written, before === undefined ? point : add(before, point));
  }
  return byLabels;
}

function addHistograms(one: HistogramPoint, other: HistogramPoint): HistogramPoint {
  const buckets = one.buckets.map((count, index) => count + (other.buckets[index] ?? 0));
  return { attributes: one.attributes, count: one.count + other.count, sum: one.sum + other.sum, buckets };
}

function addNumbers(one: NumberPoint, other: NumberPoint): NumberPoint {
  return { attributes: one.attributes, value: one.value + other.value };
}

function labelsOf(attributes: Attributes): string {
  const written = Object.entries(attributes).flatMap(([name, value]) => {
    const label = labels[name] ?? (word.test(name) ? name : undefined);
    return label === undefined || value === undefined ? [] : [[label, String(value)] as const];
  });
  // What Fairlead knows of a request says more than its response: a denied call is one whose tool reports an error.
  if (attributes["mcp.method.name"] !== undefined)
    written.push(["outcome", String(attributes["fairlead.outcome"] ?? attributes["error.type"] ?? "ok")]);
  return written.map(([label, value]) => `${label}="${escaped(value).replaceAll('"', '\\"')}"`).join(",");
}

function braced(written: string): string {
  return written === "" ? "" : `{${written}}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
