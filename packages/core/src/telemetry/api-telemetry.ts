/** Gives spans and measurements to the OpenTelemetry SDK that a program has registered. */

import type * as Api from "@opentelemetry/api";
import { durationBounds, type HistogramName, histogramTexts } from "./mcp-attributes.ts";
import type { Attributes, ContentRules, SpanKind, SpanOptions, Telemetry, TraceSpan } from "./telemetry.ts";
import type { TraceContext } from "./trace-context.ts";
import { Tracing } from "./tracing.ts";

type OpenTelemetry = typeof Api;

const scope = "fairlead";

/** The global tracer and meter of `@opentelemetry/api`. */
export class ApiTelemetry implements Telemetry {
  readonly #api: OpenTelemetry;
  readonly #version: string;
  #histograms = new Map<HistogramName, Api.Histogram>();
  /** The program may register its meter provider later, or replace it. */
  #meters: Api.MeterProvider | undefined;

  constructor(api: OpenTelemetry, version: string) {
    this.#api = api;
    this.#version = version;
  }

  startSpan(name: string, options: SpanOptions): TraceSpan {
    const api = this.#api;
    const { kind, parent, links = [], attributes } = options;
    const outer = kind === "client" && parent !== undefined ? this.#outerToolSpan(parent, attributes) : undefined;
    if (outer !== undefined) return new ApiSpan(api, outer, false);
    const span = api.trace.getTracer(scope, this.#version).startSpan(
      name,
      {
        kind: kindOf(api, kind),
        attributes: definedIn(attributes),
        links: links.map((context) => ({ context: toSpanContext(api, context) })),
      },
      this.#contextOf(parent),
    );
    return new ApiSpan(api, span, true);
  }

  activeSpan(): TraceSpan | undefined {
    const span = this.#api.trace.getActiveSpan();
    return span && new ApiSpan(this.#api, span, false);
  }

  within<T>(span: TraceSpan | TraceContext, begin: () => T): T {
    return this.#api.context.with(this.#contextOf(span), begin);
  }

  tracing(rules: ContentRules): Tracing {
    return new Tracing(this, rules);
  }

  record(histogram: HistogramName, seconds: number, attributes: Attributes): void {
    this.#histogram(histogram).record(seconds, definedIn(attributes), this.#api.ROOT_CONTEXT);
  }

  #contextOf(parent: SpanOptions["parent"]): Api.Context {
    const { ROOT_CONTEXT, trace } = this.#api;
    if (parent === undefined) return ROOT_CONTEXT;
    // The program's own context may have more than the span, for its samplers and processors.
    if (parent instanceof ApiSpan) return trace.setSpan(this.#api.context.active(), parent.span);
    return trace.setSpanContext(ROOT_CONTEXT, toSpanContext(this.#api, "context" in parent ? parent.context : parent));
  }

  /**
   * The program's own span for a model's tool call, if the call runs in it. The conventions ask for the attributes of MCP
   * on that span, instead of a second one.
   */
  #outerToolSpan(parent: TraceSpan | TraceContext, attributes: Attributes | undefined): Api.Span | undefined {
    if (attributes?.["gen_ai.operation.name"] !== "execute_tool") return undefined;
    const { spanId } = "context" in parent ? parent.context : parent;
    const active = this.#api.trace.getActiveSpan();
    if (active === undefined || active.spanContext().spanId !== spanId || !active.isRecording()) return undefined;
    // The API has no way to read attributes; the SDK's own spans have them.
    const { attributes: own = {} } = active as { readonly attributes?: Readonly<Record<string, unknown>> };
    if (own["gen_ai.operation.name"] !== "execute_tool" || own["mcp.method.name"] !== undefined) return undefined;
    active.setAttributes(definedIn(attributes));
    return active;
  }

  #histogram(name: HistogramName): Api.Histogram {
    const { metrics } = this.#api;
    const meters = metrics.getMeterProvider();
    if (meters !== this.#meters) this.#histograms = new Map();
    this.#meters = meters;
    let histogram = this.#histograms.get(name);
    if (histogram === undefined) {
      histogram = meters.getMeter(scope, this.#version).createHistogram(name, {
        ...histogramTexts[name],
        advice: { explicitBucketBoundaries: [...durationBounds] },
      });
      this.#histograms.set(name, histogram);
    }
    return histogram;
  }
}

class ApiSpan implements TraceSpan {
  readonly span: Api.Span;
  readonly context: TraceContext;
  readonly #api: OpenTelemetry;
  /** Whether Fairlead has begun the span. It ends no span of the program. */
  readonly #isOwn: boolean;

  constructor(api: OpenTelemetry, span: Api.Span, isOwn: boolean) {
    const { traceId, spanId, traceFlags, traceState } = span.spanContext();
    this.#api = api;
    this.span = span;
    this.#isOwn = isOwn;
    const isSampled = (traceFlags & api.TraceFlags.SAMPLED) !== 0;
    this.context = { traceId, spanId, isSampled, traceState: traceState?.serialize() || undefined };
  }

  set(attributes: Attributes): void {
    this.span.setAttributes(definedIn(attributes));
  }

  rename(name: string): void {
    if (this.#isOwn) this.span.updateName(name);
  }

  end(failure?: string): void {
    if (!this.#isOwn) return;
    if (failure !== undefined) this.span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: failure });
    this.span.end();
  }
}

function toSpanContext(api: OpenTelemetry, { traceId, spanId, isSampled, traceState }: TraceContext): Api.SpanContext {
  return {
    traceId,
    spanId,
    traceFlags: isSampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE,
    traceState: traceState === undefined ? undefined : api.createTraceState(traceState),
    isRemote: true,
  };
}

function kindOf({ SpanKind: kinds }: OpenTelemetry, kind: SpanKind): Api.SpanKind {
  return { internal: kinds.INTERNAL, server: kinds.SERVER, client: kinds.CLIENT }[kind];
}

function definedIn(attributes: Attributes = {}): Api.Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
