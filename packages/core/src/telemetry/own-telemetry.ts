/** Makes spans and adds durations up without an SDK: for the command, the app and the gateway. `exporter.ts` sends them. */

import { randomFillSync } from "node:crypto";
import { type HistogramName, histogramTexts } from "./mcp-attributes.ts";
import { Metrics } from "./metrics.ts";
import { keepsAll, type Sampler } from "./sampler.ts";
import type { Attributes, ContentRules, SpanKind, SpanOptions, Telemetry, TraceSpan } from "./telemetry.ts";
import { noContext, type TraceContext } from "./trace-context.ts";
import { Tracing } from "./tracing.ts";

/** A span that has ended. Times are milliseconds since 1970, with fractions. */
export interface EndedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: TraceContext;
  readonly parentSpanId: string | undefined;
  readonly links: readonly TraceContext[];
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  /** The description of its error. Undefined if it did not fail. */
  readonly failure: string | undefined;
}

export interface OwnTelemetryOptions {
  /** Gets each span that ended and is sampled. Absent if spans are not exported. */
  readonly onSpan?: ((span: EndedSpan) => void) | undefined;
  /** Default: keeps all spans, unless the caller has decided otherwise. */
  readonly sampler?: Sampler;
  /** The span that has started this program, as the variable `TRACEPARENT` says. */
  readonly parent?: TraceContext | undefined;
  /** The time in milliseconds since 1970, with fractions. */
  readonly now?: () => number;
}

/** Spans and metrics of one process, for all its hosts. */
export class OwnTelemetry implements Telemetry {
  /** The durations of requests, and what else this process counts. */
  readonly metrics: Metrics;
  readonly #onSpan: ((span: EndedSpan) => void) | undefined;
  readonly #sampler: Sampler;
  /** The span of the code that runs now; at first, the one that has started this program. */
  #active: TraceContext | undefined;
  readonly #now: () => number;
  readonly #ids = new RandomIds();

  constructor({ onSpan, sampler = keepsAll, parent, now = createPreciseClock() }: OwnTelemetryOptions = {}) {
    this.#onSpan = onSpan;
    this.#sampler = sampler;
    this.#active = parent;
    this.#now = now;
    this.metrics = new Metrics(now);
  }

  startSpan(name: string, { kind, parent, links = [], attributes }: SpanOptions): TraceSpan {
    const above = parent !== undefined && "context" in parent ? parent.context : parent;
    // Without spans, this process is no part of a trace: the context of the caller passes through it.
    if (this.#onSpan === undefined) return new UnsampledSpan(above ?? noContext);
    const traceId = above?.traceId ?? this.#ids.next(16);
    const isSampled = this.#sampler(above, traceId);
    const context = { traceId, spanId: this.#ids.next(8), isSampled, traceState: above?.traceState };
    if (!isSampled) return new UnsampledSpan(context);
    return new OwnSpan(
      { name, kind, context, parentSpanId: above?.spanId, links, attributes },
      this.#now,
      this.#onSpan,
    );
  }

  activeSpan(): TraceContext | undefined {
    return this.#active;
  }

  /** Starts the span that all others of this process are below, for a command. */
  startRoot(name: string): TraceSpan {
    const span = this.startSpan(name, { kind: "internal", parent: this.#active });
    if (this.#onSpan !== undefined) this.#active = span.context;
    return span;
  }

  /** Only until `begin` returns: following a span through promises would slow down all code of the process. */
  within<T>(span: TraceSpan | TraceContext, begin: () => T): T {
    const before = this.#active;
    this.#active = "context" in span ? span.context : span;
    try {
      return begin();
    } finally {
      this.#active = before;
    }
  }

  tracing(rules: ContentRules): Tracing {
    return new Tracing(this, rules);
  }

  record(histogram: HistogramName, seconds: number, attributes: Attributes): void {
    this.metrics.histogram(histogram, histogramTexts[histogram]).record(seconds, attributes);
  }
}

interface Begun extends Pick<EndedSpan, "name" | "kind" | "context" | "parentSpanId" | "links"> {
  readonly attributes: Attributes | undefined;
}

class OwnSpan implements TraceSpan {
  readonly context: TraceContext;
  readonly #begun: Begun;
  readonly #now: () => number;
  readonly #onEnd: (span: EndedSpan) => void;
  readonly #startedAt: number;
  #name: string;
  #attributes: Attributes;
  #isEnded = false;

  constructor(begun: Begun, now: () => number, onEnd: (span: EndedSpan) => void = () => {}) {
    this.context = begun.context;
    this.#begun = begun;
    this.#now = now;
    this.#onEnd = onEnd;
    this.#startedAt = now();
    this.#name = begun.name;
    this.#attributes = begun.attributes ?? {};
  }

  set(attributes: Attributes): void {
    this.#attributes = { ...this.#attributes, ...attributes };
  }

  rename(name: string): void {
    this.#name = name;
  }

  end(failure?: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { kind, context, parentSpanId, links } = this.#begun;
    const name = this.#name;
    const startedAt = this.#startedAt;
    const endedAt = Math.max(this.#now(), startedAt);
    const attributes = this.#attributes;
    this.#onEnd({ name, kind, context, parentSpanId, links, startedAt, endedAt, attributes, failure });
  }
}

/** A span that is not exported. Its ids are sent all the same: by default with the note that they are not sampled. */
class UnsampledSpan implements TraceSpan {
  readonly context: TraceContext;

  constructor(context: TraceContext) {
    this.context = context;
  }

  set(): void {
    // Its result is not used.
  }

  rename(): void {
    // Its result is not used.
  }

  end(): void {
    // Its result is not used.
  }
}

/** Random ids. Asking the system for each of them would take longer than the rest of a span. */
class RandomIds {
  readonly #bytes = Buffer.alloc(4096);
  #used: number = this.#bytes.length;

  /** The id has `length` bytes and is written in hex. */
  next(length: number): string {
    if (this.#used + length > this.#bytes.length) {
      randomFillSync(this.#bytes);
      this.#used = 0;
    }
    this.#used += length;
    return this.#bytes.toString("hex", this.#used - length, this.#used);
  }
}

/** The wall clock and the monotonic clock may differ by this many milliseconds more than before. */
const mostDrift = 50;

/**
 * Returns the time since 1970 in milliseconds, with fractions: that of the monotonic clock. It is set again if the wall
 * clock runs away from it, for example because the machine slept.
 */
function createPreciseClock(): () => number {
  let offset = Number.NaN;
  return () => {
    const monotonic = performance.now();
    const wall = Date.now();
    if (!(Math.abs(wall - monotonic - offset) <= mostDrift)) offset = wall - monotonic;
    return monotonic + offset;
  };
}
