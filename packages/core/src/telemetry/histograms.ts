/** Adds durations up in histograms. What they collect is plain data, from which OTLP and the text of Prometheus are written. */

import { durationBounds, type HistogramName, histogramTexts } from "./mcp-attributes.ts";
import type { Attributes } from "./telemetry.ts";

/** One time series of a histogram. */
export interface HistogramPoint {
  readonly attributes: Attributes;
  readonly count: number;
  readonly sum: number;
  /** How many values are in each bucket. One more than `bounds`: the last is for larger values. */
  readonly buckets: readonly number[];
}

/** One time series of a counter or a gauge. */
export interface NumberPoint {
  readonly attributes: Attributes;
  readonly value: number;
}

/** A metric with all its time series. */
export type Metric = {
  readonly name: string;
  readonly description: string;
  /** As in UCUM: `s` for seconds. Empty for a number of things. */
  readonly unit: string;
} & (
  | { readonly kind: "histogram"; readonly bounds: readonly number[]; readonly points: readonly HistogramPoint[] }
  | { readonly kind: "counter" | "gauge"; readonly points: readonly NumberPoint[] }
);

/** Metrics of a program since its start. */
export interface CollectedMetrics {
  /** In milliseconds since 1970. */
  readonly since: number;
  readonly at: number;
  readonly metrics: readonly Metric[];
}

interface OpenPoint extends HistogramPoint {
  count: number;
  sum: number;
  readonly buckets: number[];
}

/** A histogram has at most this many time series. A client that invents names would otherwise fill the memory. */
const mostPoints = 1000;
const overflow: Attributes = { "otel.metric.overflow": true };

/** The histograms of a process, since its start. */
export class Histograms {
  readonly #points = new Map<HistogramName, Map<string, OpenPoint>>();
  readonly #now: () => number;
  readonly #since: number;

  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
  }

  record(name: HistogramName, seconds: number, attributes: Attributes): void {
    const points = this.#points.get(name) ?? new Map<string, OpenPoint>();
    this.#points.set(name, points);
    const point = pointOf(points, attributes);
    point.count += 1;
    point.sum += seconds;
    const bucket = bucketOf(seconds);
    point.buckets[bucket] = (point.buckets[bucket] ?? 0) + 1;
  }

  collect(): CollectedMetrics {
    return {
      since: this.#since,
      at: this.#now(),
      metrics: [...this.#points].map(([name, points]) => ({
        name,
        description: histogramTexts[name],
        unit: "s",
        kind: "histogram",
        bounds: durationBounds,
        points: [...points.values()].map((point) => ({ ...point, buckets: [...point.buckets] })),
      })),
    };
  }
}

function pointOf(points: Map<string, OpenPoint>, attributes: Attributes): OpenPoint {
  const key = keyOf(attributes);
  const found = points.get(key);
  if (found !== undefined) return found;
  if (points.size >= mostPoints && attributes !== overflow) return pointOf(points, overflow);
  const point = { attributes, count: 0, sum: 0, buckets: [...durationBounds, 0].map(() => 0) };
  points.set(key, point);
  return point;
}

/** Equal attributes in the same order have the same key. The places that record always write them in the same order. */
function keyOf(attributes: Attributes): string {
  let key = "";
  for (const name in attributes) {
    const value = attributes[name];
    if (value !== undefined) key += `${name}\0${value}\0`;
  }
  return key;
}

/** A value that equals a bound is in the bucket below it. */
function bucketOf(seconds: number): number {
  let at = 0;
  while (at < durationBounds.length && seconds > (durationBounds[at] ?? 0)) at += 1;
  return at;
}
