/** A collector of OpenTelemetry: receives OTLP/JSON over HTTP, keeps it, and answers as the test wants. */

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import type { SpanLike } from "./span-tree.ts";

/** A span as it was received. */
export interface CollectedSpan extends SpanLike {
  readonly context: { readonly traceId: string; readonly spanId: string; readonly traceState: string | undefined };
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

interface CollectedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: OtlpBody;
}

export interface Collector extends AsyncDisposable {
  readonly endpoint: string;
  /** Every request so far. */
  readonly requests: readonly CollectedRequest[];
  spans(): readonly CollectedSpan[];
  /** The names of all metrics, each once. */
  metrics(): readonly string[];
  /** Resolves when as many requests have come. */
  received(count: number): Promise<void>;
}

/** Starts the collector. Without `reply`, it accepts everything. */
export async function collector(reply: (response: ServerResponse, count: number) => void = accept): Promise<Collector> {
  const requests: CollectedRequest[] = [];
  let wake = (): void => {};
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { url: path = "", headers } = incoming;
      const sent = Buffer.concat(chunks);
      const text = (headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent).toString("utf8");
      requests.push({ path, headers, body: JSON.parse(text) as OtlpBody });
      reply(response, requests.length);
      wake();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans: () => requests.flatMap(({ body }) => spansIn(body)),
    metrics: () => [...new Set(requests.flatMap(({ body }) => metricsIn(body)))],
    async received(count) {
      while (requests.length < count)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function accept(response: ServerResponse): void {
  response.setHeader("content-type", "application/json").end("{}");
}

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly links: CollectedSpan["links"];
  readonly status: { readonly code?: number; readonly message?: string };
}
interface OtlpBody {
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[] }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly { readonly name: string }[] }[];
  }[];
}

function metricsIn({ resourceMetrics = [] }: OtlpBody): readonly string[] {
  return resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) => metrics.map(({ name }) => name)),
  );
}

function spansIn({ resourceSpans = [] }: OtlpBody): readonly CollectedSpan[] {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(toSpan)));
}

function toSpan({ traceId, spanId, traceState, parentSpanId, name, kind, links, status, ...span }: OtlpSpan) {
  const attributes = Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
  return {
    name,
    kind: ["unspecified", "internal", "server", "client"][kind] ?? "unknown",
    context: { traceId, spanId, traceState },
    parentSpanId,
    links,
    startedAt: Number(span.startTimeUnixNano) / 1e6,
    attributes,
    failure: status.code === 2 ? (status.message ?? "") : undefined,
  };
}
