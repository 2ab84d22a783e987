/**
 * Reads OpenTelemetry's environment variables: where spans and metrics go, and which. Only the environment of the process
 * counts, never settings or `.env` files: a workspace must not be able to send what its user does elsewhere.
 */

import { parseUrl } from "@fairlead/wire/text";
import { keepsAll, type Sampler, samplerOf } from "./sampler.ts";
import type { Attributes } from "./telemetry.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** A collector's address, and how it is sent to. */
export interface Collector {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The longest time for one batch with all its repetitions, in milliseconds. */
  readonly timeout: number;
  readonly isCompressed: boolean;
}

/** Where the spans or the metrics of a process go. */
export interface ExportTarget {
  readonly collector: Collector | undefined;
  /** Whether they are written to stderr. */
  readonly isPrinted: boolean;
}

export interface ExportSettings {
  /** Undefined if spans are not exported. */
  readonly traces: ExportTarget | undefined;
  readonly metrics: ExportTarget | undefined;
  readonly sampler: Sampler;
  readonly resource: Attributes;
  /** Spans are sent when `batch` of them wait, or after `delay` milliseconds. At most `queue` of them wait. */
  readonly spans: { readonly queue: number; readonly batch: number; readonly delay: number };
  /** Milliseconds between two exports of metrics. */
  readonly interval: number;
  /** Each names a variable whose value is not used. */
  readonly problems: readonly string[];
}

/** Reads the variables. A value that is wrong is a problem, and the default counts. */
export function readExportSettings(env: Variables): ExportSettings {
  const reader = new VariableReader(env);
  const batch = reader.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512, 1);
  return {
    traces: targetOf("TRACES", reader),
    metrics: targetOf("METRICS", reader),
    sampler: samplerIn(reader),
    resource: resourceIn(reader),
    spans: {
      batch,
      queue: Math.max(reader.number("OTEL_BSP_MAX_QUEUE_SIZE", 2048, 1), batch),
      delay: reader.number("OTEL_BSP_SCHEDULE_DELAY", 5000, 1),
    },
    interval: reader.number("OTEL_METRIC_EXPORT_INTERVAL", 60_000, 1),
    problems: reader.problems,
  };
}

class VariableReader {
  readonly problems: string[] = [];
  readonly #env: Variables;

  constructor(env: Variables) {
    this.#env = env;
  }

  /** An empty variable counts as unset, as the specification says. */
  text(name: string): string | undefined {
    return this.#env[name]?.trim() || undefined;
  }

  /** A variable of one signal, or else the one for all. Returns its name too, for problems. */
  of(signal: Signal, name: string): { readonly name: string; readonly value: string | undefined } {
    const own = `OTEL_EXPORTER_OTLP_${signal}_${name}`;
    const common = `OTEL_EXPORTER_OTLP_${name}`;
    return this.text(own) === undefined
      ? { name: common, value: this.text(common) }
      : { name: own, value: this.text(own) };
  }

  number(name: string, usual: number, least: number): number {
    const value = this.text(name);
    if (value === undefined) return usual;
    const number = Number(value);
    if (Number.isInteger(number) && number >= least) return Math.min(number, 2 ** 31 - 1);
    this.problem(name, `must be a whole number from ${least}, so ${usual} counts`);
    return usual;
  }

  /** The value itself is not part of the message: it may be a secret. */
  problem(name: string, words: string): void {
    const text = `${name} ${words}`;
    if (!this.problems.includes(text)) this.problems.push(text);
  }
}

type Signal = "TRACES" | "METRICS";

function targetOf(signal: Signal, reader: VariableReader): ExportTarget | undefined {
  const name = `OTEL_${signal}_EXPORTER`;
  const endpoint = reader.of(signal, "ENDPOINT").value;
  const words = (reader.text(name) ?? (endpoint === undefined ? "none" : "otlp")).split(",").map((word) => word.trim());
  for (const word of words)
    if (!["otlp", "console", "none", ""].includes(word)) reader.problem(name, "knows otlp, console and none");
  const collector = words.includes("otlp") ? collectorOf(signal, reader) : undefined;
  const isPrinted = words.includes("console");
  return collector === undefined && !isPrinted ? undefined : { collector, isPrinted };
}

/** A collector on this machine, if no endpoint is given. */
const usualEndpoint = "http://localhost:4318";

function collectorOf(signal: Signal, reader: VariableReader): Collector | undefined {
  const endpoint = reader.of(signal, "ENDPOINT");
  const isOwn = endpoint.name.includes(signal);
  const url = parseUrl(endpoint.value ?? usualEndpoint);
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    reader.problem(endpoint.name, "must be an http or https URL, so nothing is sent there");
    return undefined;
  }
  // The address for all signals is a base, the one for a signal is used as it is.
  if (!isOwn) url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/${signal.toLowerCase()}`;
  const protocol = reader.of(signal, "PROTOCOL");
  if (protocol.value === "grpc") {
    reader.problem(
      protocol.name,
      "is grpc, but Fairlead sends only over HTTP, so nothing is sent: set http/json, and the collector's port for HTTP, usually 4318",
    );
    return undefined;
  }
  // Each collector that reads protobuf over HTTP reads JSON at the same address.
  if (!["http/json", "http/protobuf", undefined].includes(protocol.value))
    reader.problem(protocol.name, "must be http/json, which counts");
  const compression = reader.of(signal, "COMPRESSION");
  if (!["gzip", "none", undefined].includes(compression.value))
    reader.problem(compression.name, "knows gzip and none, so nothing is compressed");
  return {
    url,
    headers: headersIn(reader.of(signal, "HEADERS"), reader),
    timeout: reader.number(reader.of(signal, "TIMEOUT").name, 10_000, 1),
    isCompressed: compression.value === "gzip",
  };
}

const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const headerValue = /^[\t\x20-\x7e]*$/;
/** Headers that the exporter itself sets, or that belong to the connection. */
const ownHeaders: ReadonlySet<string> = new Set([
  "content-length",
  "content-type",
  "content-encoding",
  "host",
  "connection",
  "transfer-encoding",
]);

function headersIn(
  { name, value = "" }: ReturnType<VariableReader["of"]>,
  reader: VariableReader,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [key, text] of pairsIn(name, value, reader)) {
    const header = key.toLowerCase();
    if (headerName.test(header) && headerValue.test(text) && !ownHeaders.has(header)) headers[header] = text;
    else reader.problem(name, "has a header that cannot be sent");
  }
  return headers;
}

/** Reads `key=value,key2=value2`, with percent-encoded values. */
function pairsIn(name: string, value: string, reader: VariableReader): readonly (readonly [string, string])[] {
  return value
    .split(",")
    .filter((pair) => pair.trim() !== "")
    .flatMap((pair) => {
      const at = pair.indexOf("=");
      const key = pair.slice(0, Math.max(at, 0)).trim();
      const text = decoded(pair.slice(at + 1).trim());
      if (key !== "" && text !== undefined) return [[key, text] as const];
      reader.problem(name, "must have the form key=value,key2=value2, so a part of it is left out");
      return [];
    });
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function samplerIn(reader: VariableReader): Sampler {
  const name = reader.text("OTEL_TRACES_SAMPLER");
  if (name === undefined) return keepsAll;
  const sampler = samplerOf(name, reader.text("OTEL_TRACES_SAMPLER_ARG"));
  if (sampler === undefined)
    reader.problem(
      "OTEL_TRACES_SAMPLER",
      "is unknown, or OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1, so parentbased_always_on counts",
    );
  return sampler ?? keepsAll;
}

const longestAttribute = 4096;

function resourceIn(reader: VariableReader): Attributes {
  const name = "OTEL_RESOURCE_ATTRIBUTES";
  const given = pairsIn(name, reader.text(name) ?? "", reader).map(([key, value]) => [
    key,
    value.slice(0, longestAttribute),
  ]);
  const service = reader.text("OTEL_SERVICE_NAME")?.slice(0, longestAttribute);
  return { "service.name": "fairlead", ...Object.fromEntries(given), ...(service && { "service.name": service }) };
}
