/**
 * Adds measurements up: histograms, counters and gauges of one process. What they collect is plain data, from which OTLP
 * (`otlp.ts`) and the text of Prometheus (`prometheus.ts`) are written.
 */

import { durationBounds } from "./mcp-attributes.ts";
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

/** Metrics of a process since its start. */
export interface CollectedMetrics {
  /** In milliseconds since 1970. */
  readonly since: number;
  readonly at: number;
  readonly metrics: readonly Metric[];
}

/** Adds up how often something happens. */
export interface Counter {
  /** @param amount Default: 1. */
  add(amount?: number, attributes?: Attributes): void;
}

/** Measures how the values of something are distributed, for example durations in seconds. */
export interface Histogram {
  record(value: number, attributes?: Attributes): void;
}

/** The current value of something. */
export interface Gauge {
  set(value: number, attributes?: Attributes): void;
}

export interface MetricText {
  readonly description: string;
  /** Default: none, a number of things. */
  readonly unit?: "" | "s" | "By" | undefined;
}

/** Returns the current values of a gauge: one number, or one for each set of attributes. */
export type ReadGauge = () => number | readonly NumberPoint[];

interface OpenHistogramPoint extends HistogramPoint {
  count: number;
  sum: number;
  readonly buckets: number[];
}

interface OpenNumberPoint extends NumberPoint {
  value: number;
}

/** A metric has at most this many time series. A client that invents names would otherwise fill the memory. */
const mostPoints = 1000;
const overflow: Attributes = { "otel.metric.overflow": true };
const none: Attributes = {};

/** The metrics of a process, since its start. */
export class Metrics {
  readonly #now: () => number;
  readonly #since: number;
  readonly #metrics = new Map<string, CountedNumbers | CountedValues>();

  /** @param now The time in milliseconds since 1970. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#since = now();
  }

  /** Returns the counter of this name. The first call defines it. */
  counter(name: string, text: MetricText): Counter {
    return this.#numbers(name, text, "counter");
  }

  /** Returns the gauge of this name. With `read`, its values are read when the metrics are collected. */
  gauge(name: string, text: MetricText, read?: ReadGauge): Gauge {
    const gauge = this.#numbers(name, text, "gauge");
    if (read !== undefined) gauge.read = read;
    return gauge;
  }

  /** Returns the histogram of this name. `bounds` are the upper limits of its buckets. Default: those for durations. */
  histogram(name: string, text: MetricText, bounds: readonly number[] = durationBounds): Histogram {
    const found = this.#metrics.get(name) ?? new CountedValues(name, text, bounds);
    if (!(found instanceof CountedValues)) throw new TypeError(`the metric ${name} is no histogram`);
    this.#metrics.set(name, found);
    return found;
  }

  /** All metrics that have a value. */
  collect(): CollectedMetrics {
    const metrics = [...this.#metrics.values()].map((one) => one.collect()).filter(({ points }) => points.length > 0);
    return { since: this.#since, at: this.#now(), metrics };
  }

  #numbers(name: string, text: MetricText, kind: "counter" | "gauge"): CountedNumbers {
    const found = this.#metrics.get(name) ?? new CountedNumbers(name, text, kind);
    if (!(found instanceof CountedNumbers && found.kind === kind))
      throw new TypeError(`the metric ${name} is no ${kind}`);
    this.#metrics.set(name, found);
    return found;
  }
}

class CountedNumbers implements Counter, Gauge {
  readonly kind: "counter" | "gauge";
  read: ReadGauge | undefined;
  readonly #name: string;
  readonly #text: MetricText;
  readonly #points = new Points<OpenNumberPoint>((attributes) => ({ attributes, value: 0 }));

  constructor(name: string, text: MetricText, kind: "counter" | "gauge") {
    this.#name = name;
    this.#text = text;
    this.kind = kind;
  }

  add(amount = 1, attributes: Attributes = none): void {
    this.#points.at(attributes).value += amount;
  }

  set(value: number, attributes: Attributes = none): void {
    this.#points.at(attributes).value = value;
  }

  collect(): Metric {
    const { description, unit = "" } = this.#text;
    return { name: this.#name, description, unit, kind: this.kind, points: this.#values() };
  }

  #values(): readonly NumberPoint[] {
    const values = this.read?.();
    if (values === undefined) return this.#points.all().map((point) => ({ ...point }));
    return typeof values === "number" ? [{ attributes: none, value: values }] : values.slice(0, mostPoints);
  }
}

class CountedValues implements Histogram {
  readonly #name: string;
  readonly #text: MetricText;
  readonly #bounds: readonly number[];
  readonly #points: Points<OpenHistogramPoint>;

  constructor(name: string, text: MetricText, bounds: readonly number[]) {
    this.#name = name;
    this.#text = text;
    this.#bounds = bounds;
    this.#points = new Points((attributes) => ({ attributes, count: 0, sum: 0, buckets: [...bounds, 0].map(() => 0) }));
  }

  record(value: number, attributes: Attributes = none): void {
    const point = this.#points.at(attributes);
    point.count += 1;
    point.sum += value;
    const bucket = this.#bucketOf(value);
    point.buckets[bucket] = (point.buckets[bucket] ?? 0) + 1;
  }

  collect(): Metric {
    const { description, unit = "" } = this.#text;
    const points = this.#points.all().map((point) => ({ ...point, buckets: [...point.buckets] }));
    return { name: this.#name, description, unit, kind: "histogram", bounds: this.#bounds, points };
  }

  /** A value that equals a bound is in the bucket below it. */
  #bucketOf(value: number): number {
    let at = 0;
    while (at < this.#bounds.length && value > (this.#bounds[at] ?? 0)) at += 1;
    return at;
  }
}

/** The time series of one metric, by their attributes. */
class Points<Point> {
  readonly #create: (attributes: Attributes) => Point;
  readonly #byKey = new Map<string, Point>();

  constructor(create: (attributes: Attributes) => Point) {
    this.#create = create;
  }

  at(attributes: Attributes): Point {
    const key = keyOf(attributes);
    const found = this.#byKey.get(key);
    if (found !== undefined) return found;
    if (this.#byKey.size >= mostPoints && attributes !== overflow) return this.at(overflow);
    const point = this.#create(attributes);
    this.#byKey.set(key, point);
    return point;
  }

  all(): readonly Point[] {
    return [...this.#byKey.values()];
  }
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
