/**
 * Spans and measurements of a host. They go to the program's own OpenTelemetry SDK (`api-telemetry.ts`), or to the exporter
 * of the command (`own-telemetry.ts`). Without either, a host makes none, and loads no other file of this folder.
 */

import type { HistogramName } from "./mcp-attributes.ts";
import type { TraceContext } from "./trace-context.ts";
import type { Tracing } from "./tracing.ts";

/** Attributes of a span or a measurement. Members that are undefined are left out. */
export type Attributes = { readonly [name: string]: string | number | boolean | undefined };

/** `server`: a request that Fairlead receives. `client`: one that it sends. `internal`: a step of its own. */
export type SpanKind = "internal" | "server" | "client";

/** An open span. */
export interface TraceSpan {
  /** Its ids, as they are sent in `_meta`. */
  readonly context: TraceContext;
  set(attributes: Attributes): void;
  rename(name: string): void;
  /** Ends the span. With `failure`, its status is an error with this description. */
  end(failure?: string): void;
}

export interface SpanOptions {
  readonly kind: SpanKind;
  /** Default: the span begins a trace. */
  readonly parent?: TraceSpan | TraceContext | undefined;
  readonly links?: readonly TraceContext[] | undefined;
  readonly attributes?: Attributes | undefined;
}

/** Where spans and measurements go. */
export interface Telemetry {
  startSpan(name: string, options: SpanOptions): TraceSpan;
  /** The span in which the caller runs, if a program's SDK or the caller of the command knows one. */
  activeSpan(): TraceSpan | TraceContext | undefined;
  /** Calls `begin` while `span` is the active span. What `begin` starts may become its child. */
  within<T>(span: TraceSpan | TraceContext, begin: () => T): T;
  /** Adds a duration to a histogram. */
  record(histogram: HistogramName, seconds: number, attributes: Attributes): void;
  /** Makes the spans of one host. */
  tracing(content: ContentRules): Tracing;
}

/** What spans may have of arguments and results. */
export interface ContentRules {
  /** The settings `fairlead.telemetry`. */
  readonly content: () => { readonly arguments: boolean; readonly results: boolean };
  /** Hides the secrets of all servers in a text. */
  readonly hide: (text: string) => string;
}

/** OpenTelemetry's variables that say where spans and metrics go. Without any of them, the command makes none. */
const destinations: readonly string[] = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
  "OTEL_TRACES_EXPORTER",
  "OTEL_METRICS_EXPORTER",
];

/** Whether the environment of this process asks for spans or metrics. `openExporter` in `exporter.ts` makes them. */
export function asksForTelemetry(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env["OTEL_SDK_DISABLED"]?.trim().toLowerCase() === "true") return false;
  return destinations.some((name) => !["", "none"].includes(env[name]?.trim() ?? ""));
}

/** The key under which every copy of `@opentelemetry/api` 1.x finds the SDK that a program has registered. */
const apiKey: symbol = Symbol.for("opentelemetry.js.api.1");

/** The telemetry of one host. A program may register its SDK before or after it creates the host. */
export class HostTelemetry {
  readonly #rules: ContentRules & { readonly version: string };
  #tracing: Tracing | undefined;
  #loading: Promise<void> | undefined;

  /** @param given Where spans go. Default: the SDK that the program has registered, if any. */
  constructor(given: Telemetry | undefined, rules: ContentRules & { readonly version: string }) {
    this.#rules = rules;
    this.#tracing = given?.tracing(rules);
  }

  /** Undefined if no spans are collected. */
  get current(): Tracing | undefined {
    return this.#tracing;
  }

  /** Loads `@opentelemetry/api` if the program has registered an SDK. Undefined if nothing needs to be awaited. */
  load(): Promise<void> | undefined {
    if (this.#tracing !== undefined || !isSdkRegistered()) return undefined;
    this.#loading ??= this.#loadApi();
    return this.#loading;
  }

  async #loadApi(): Promise<void> {
    try {
      const [{ ApiTelemetry }, api] = await Promise.all([import("./api-telemetry.ts"), import("@opentelemetry/api")]);
      this.#tracing = new ApiTelemetry(api, this.#rules.version).tracing(this.#rules);
    } catch {
      // The SDK belongs to a part of the program whose packages this one cannot reach. The host then makes no spans.
    }
  }
}

function isSdkRegistered(): boolean {
  const registered = (globalThis as { readonly [apiKey: symbol]: Readonly<Record<string, unknown>> | undefined })[
    apiKey
  ];
  return registered !== undefined && (registered["trace"] !== undefined || registered["metrics"] !== undefined);
}
