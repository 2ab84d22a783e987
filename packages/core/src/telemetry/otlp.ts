/** Writes spans and metrics as OTLP/JSON, the body of a request to a collector. */

import type { CollectedMetrics, Metric } from "./metrics.ts";
import type { EndedSpan } from "./own-telemetry.ts";
import type { Attributes, SpanKind } from "./telemetry.ts";

/** The program that spans and metrics come from. */
export interface Source {
  /** Attributes of the process: its name, its version, what `OTEL_RESOURCE_ATTRIBUTES` adds. */
  readonly resource: Attributes;
  /** Fairlead's version. */
  readonly version: string;
}

const kinds: { readonly [Kind in SpanKind]: number } = { internal: 1, server: 2, client: 3 };
const failed = 2;
/** Each collection has all values since the start of the process. */
const cumulative = 2;

/** The body for `/v1/traces`. */
export function tracesBody(spans: readonly EndedSpan[], { resource, version }: Source): string {
  const scopeSpans = [{ scope: { name: "fairlead", version }, spans: spans.map(writtenSpan) }];
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: pairs(resource) }, scopeSpans }] });
}

/** The body for `/v1/metrics`. */
export function metricsBody({ metrics, since, at }: CollectedMetrics, { resource, version }: Source): string {
  const written = metrics.map((metric) => writtenMetric(metric, nanos(since), nanos(at)));
  const scopeMetrics = [{ scope: { name: "fairlead", version }, metrics: written }];
  return JSON.stringify({ resourceMetrics: [{ resource: { attributes: pairs(resource) }, scopeMetrics }] });
}

function writtenSpan({ context, kind, links, failure, ...span }: EndedSpan): object {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    traceState: context.traceState,
    parentSpanId: span.parentSpanId,
    name: wellFormed(span.name),
    kind: kinds[kind],
    startTimeUnixNano: nanos(span.startedAt),
    endTimeUnixNano: nanos(span.endedAt),
    attributes: pairs(span.attributes),
    links: links.map(({ traceId, spanId, traceState }) => ({ traceId, spanId, traceState })),
    status: failure === undefined ? {} : { code: failed, message: wellFormed(failure) },
  };
}

function writtenMetric(metric: Metric, startTimeUnixNano: string, timeUnixNano: string): object {
  const { name, description, unit } = metric;
  if (metric.kind === "histogram") {
    const dataPoints = metric.points.map(({ attributes, count, sum, buckets }) => ({
      attributes: pairs(attributes),
      startTimeUnixNano,
      timeUnixNano,
      count: String(count),
      sum,
      bucketCounts: buckets.map(String),
      explicitBounds: metric.bounds,
    }));
    return { name, description, unit, histogram: { aggregationTemporality: cumulative, dataPoints } };
  }
  const dataPoints = metric.points.map(({ attributes, value }) => ({
    attributes: pairs(attributes),
    startTimeUnixNano,
    timeUnixNano,
    asDouble: value,
  }));
  if (metric.kind === "gauge") return { name, description, unit, gauge: { dataPoints } };
  return { name, description, unit, sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } };
}

function pairs(attributes: Attributes): readonly object[] {
  const written: object[] = [];
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined) written.push({ key, value: writtenValue(value) });
  return written;
}

function writtenValue(value: string | number | boolean): object {
  if (typeof value === "string") return { stringValue: wellFormed(value) };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Milliseconds with fractions as a number of nanoseconds, which a number of JavaScript could not hold exactly. */
function nanos(milliseconds: number): string {
  const whole = Math.floor(milliseconds);
  return `${whole}${String(Math.floor((milliseconds - whole) * 1e6)).padStart(6, "0")}`;
}

/** Half of a surrogate pair, as a hostile server may send it, is no valid text for many collectors. */
function wellFormed(text: string): string {
  return /[\ud800-\udfff]/.test(text) ? text.replaceAll(/\p{Surrogate}/gu, "\ufffd") : text;
}
