/**
 * Sends spans and metrics to a collector: OTLP/JSON over HTTP. It runs beside the program: it never makes a request wait,
 * holds a bounded number of spans, and gives up after a bounded time.
 */

import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { isObject, objectOf, stringOf } from "@fairlead/wire/json";
import { clip, errorMessage } from "@fairlead/wire/text";
import { proxyFor, webExchange } from "@fairlead/wire/web-exchange";
import { type Clock, sleep, systemClock } from "../clock.ts";
import { type Collector, type ExportSettings, type ExportTarget, readExportSettings } from "./export-settings.ts";
import type { Counter } from "./metrics.ts";
import { metricsBody, type Source, tracesBody } from "./otlp.ts";
import { type EndedSpan, OwnTelemetry, type OwnTelemetryOptions } from "./own-telemetry.ts";

export interface ExporterOptions extends Pick<OwnTelemetryOptions, "parent" | "now"> {
  /** The environment, for the proxy variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Fairlead's version. */
  readonly version: string;
  /** Identifies the process among others that send the same metrics. */
  readonly instance: string;
  /** Tells what is wrong. The text may be foreign. */
  readonly warn: (message: string) => void;
  /** Writes spans and metrics as a line of JSON, if the environment asks for that. */
  readonly print: (line: string) => void;
  readonly clock?: Clock | undefined;
}

/** Opens the exporter that the environment asks for. Undefined if it asks for none. Wrong values are told. */
export function openExporter(options: ExporterOptions): Exporter | undefined {
  const settings = readExportSettings(options.env);
  for (const problem of settings.problems) options.warn(problem);
  return settings.traces === undefined && settings.metrics === undefined ? undefined : new Exporter(settings, options);
}

/** At the end of the process, sending what is left may take this many milliseconds. */
const endTime = 2000;

/** Collects the spans and metrics of this process, and sends them. */
class Exporter {
  readonly telemetry: OwnTelemetry;
  readonly #settings: ExportSettings;
  readonly #options: ExporterOptions;
  readonly #source: Source;
  readonly #clock: Clock;
  /** Aborts when the process ends. */
  readonly #ending = new AbortController();
  /** Aborts when there is no time left. */
  readonly #late = new AbortController();
  readonly #told = new Set<string>();
  readonly #dropped: Counter;
  #waiting: EndedSpan[] = [];
  #callOff: (() => void) | undefined;
  #callOffMetrics: (() => void) | undefined;
  #sending: Promise<void> | undefined;

  constructor(settings: ExportSettings, options: ExporterOptions) {
    const { clock = systemClock, version, instance, parent, now } = options;
    const { traces, metrics, sampler, resource } = settings;
    const program = { "service.version": version, "service.instance.id": instance };
    const sdk = {
      "telemetry.sdk.name": "fairlead",
      "telemetry.sdk.language": "nodejs",
      "telemetry.sdk.version": version,
    };
    this.#settings = settings;
    this.#options = options;
    this.#source = { resource: { ...program, ...resource, ...sdk }, version };
    this.#clock = clock;
    const onSpan = traces && ((span: EndedSpan): void => this.#add(span));
    this.telemetry = new OwnTelemetry({ onSpan, sampler, parent, now });
    this.#dropped = this.telemetry.metrics.counter("fairlead.dropped_spans", {
      description: "Spans that were not exported.",
    });
    if (metrics !== undefined) this.#scheduleMetrics(metrics);
  }

  /** Sends what is left, for at most two seconds. */
  async close(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    this.#callOff?.();
    this.#callOffMetrics?.();
    const { traces, metrics } = this.#settings;
    const callOff = this.#clock.after(endTime, () => this.#late.abort());
    // One after the other: the metrics have the number of dropped spans.
    if (traces !== undefined) await this.#flush(traces);
    if (metrics !== undefined) await this.#exportMetrics(metrics);
    callOff();
  }

  #add(span: EndedSpan): void {
    const { spans, traces } = this.#settings;
    if (traces === undefined || this.#ending.signal.aborted) return;
    if (this.#waiting.length >= spans.queue) {
      this.#drop(1, "queue_full");
      return;
    }
    this.#waiting.push(span);
    if (this.#sending === undefined) this.#sendSoon(traces);
  }

  #sendSoon(traces: ExportTarget): void {
    const { batch, delay } = this.#settings.spans;
    if (this.#waiting.length >= batch) void this.#flush(traces);
    else this.#callOff ??= this.#clock.after(delay, () => void this.#flush(traces), { background: true });
  }

  /** Sends the waiting spans, one batch at a time. Never rejects. */
  #flush(traces: ExportTarget): Promise<void> {
    this.#callOff?.();
    this.#callOff = undefined;
    this.#sending ??= this.#sendSpans(traces).finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length > 0) this.#sendSoon(traces);
    });
    return this.#sending;
  }

  async #sendSpans({ collector, isPrinted }: ExportTarget): Promise<void> {
    const { batch: size } = this.#settings.spans;
    do {
      const batch = this.#waiting.splice(0, size);
      if (batch.length === 0) return;
      const body = tracesBody(batch, this.#source);
      if (isPrinted) this.#options.print(body);
      const rejected = collector === undefined ? 0 : await this.#send(collector, body, "rejectedSpans");
      if (rejected === undefined) this.#drop(batch.length, "failed");
      else if (rejected > 0) this.#drop(rejected, "rejected");
      // What came meanwhile makes a batch of its own, unless there is no time for that.
    } while (this.#waiting.length >= size || this.#ending.signal.aborted);
  }

  #scheduleMetrics(metrics: ExportTarget): void {
    const exportNext = async (): Promise<void> => {
      await this.#exportMetrics(metrics);
      if (!this.#ending.signal.aborted) this.#scheduleMetrics(metrics);
    };
    this.#callOffMetrics = this.#clock.after(this.#settings.interval, () => void exportNext(), { background: true });
  }

  async #exportMetrics({ collector, isPrinted }: ExportTarget): Promise<void> {
    const collected = this.telemetry.metrics.collect();
    if (collected.metrics.length === 0) return;
    const body = metricsBody(collected, this.#source);
    if (isPrinted) this.#options.print(body);
    if (collector !== undefined) await this.#send(collector, body, "rejectedDataPoints");
  }

  /** Returns how many items the collector has rejected. Undefined if the batch is lost. */
  async #send(collector: Collector, body: string, rejected: string): Promise<number | undefined> {
    const late = new AbortController();
    const callOff = this.#clock.after(collector.timeout, () => late.abort(), { background: true });
    const { env } = this.#options;
    const { origin } = collector.url;
    try {
      const signal = AbortSignal.any([late.signal, this.#late.signal]);
      const answer = await post(collector, body, { env, clock: this.#clock, signal, ending: this.#ending.signal });
      if (answer.status < 200 || answer.status > 299) {
        const words = `${origin} answered with the status ${answer.status}, so spans or metrics were not exported`;
        this.#tell(`status ${answer.status}`, `${words}; Fairlead sends JSON (OTLP over HTTP)`);
        return undefined;
      }
      const { [rejected]: count, errorMessage: words } = objectOf(objectOf(answer.body)["partialSuccess"]);
      const number = Number(count ?? 0);
      const reason = clip(stringOf(words) || "it gave no reason", 300);
      if (number > 0 || stringOf(words))
        this.#tell(rejected, `${origin} rejected ${number} spans or values: ${reason}`);
      return number > 0 ? number : 0;
    } catch (error) {
      this.#tell("unreachable", `spans or metrics were not exported: ${clip(errorMessage(error), 300)}`);
      return undefined;
    } finally {
      callOff();
    }
  }

  #drop(count: number, reason: string): void {
    this.#dropped.add(count, { reason });
    if (reason === "queue_full") this.#tell(reason, "spans are made faster than they can be sent, so some are dropped");
  }

  /** Prints one message of each kind: a dead collector is no news with each batch. */
  #tell(kind: string, message: string): void {
    if (this.#told.has(kind)) return;
    this.#told.add(kind);
    this.#options.warn(message);
  }
}

const toGzip = promisify(gzip);

/** What a busy collector answers. The specification lists these for another attempt. */
const busy: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const firstPause = 1000;
const longestPause = 5000;
const mostBytes = 65_536;

interface Answer {
  readonly status: number;
  /** The body, if it is JSON. */
  readonly body: unknown;
}

interface Sending extends Pick<ExporterOptions, "env"> {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Aborts when the process ends: from then on, a collector gets no further attempt. */
  readonly ending: AbortSignal;
}

/** Sends one batch, and repeats it while the collector is busy or cannot be reached. Ends with the signal. */
async function post(
  { url, headers, isCompressed }: Collector,
  text: string,
  { env, clock, signal, ending }: Sending,
): Promise<Answer> {
  const body = isCompressed ? await toGzip(text) : Buffer.from(text);
  const sent: Record<string, string> = { ...headers, "user-agent": "fairlead", "content-type": "application/json" };
  if (isCompressed) sent["content-encoding"] = "gzip";
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    let wait = pause * (0.5 + Math.random() / 2);
    let ended: { readonly answer: Answer } | { readonly error: unknown };
    try {
      const answer = await webExchange({ url, method: "POST", headers: sent, body, signal, proxy: proxyFor(url, env) });
      try {
        ended = { answer: { status: answer.status, body: await readJson(answer.body) } };
        if (!busy.has(answer.status)) return ended.answer;
        wait = retryAfter(answer.headers) ?? wait;
      } finally {
        answer.close();
      }
    } catch (error) {
      if (signal.aborted) throw new Error(`${url.origin} did not answer in time`, { cause: error });
      ended = { error };
    }
    try {
      await sleep(clock, wait, AbortSignal.any([signal, ending]), { background: true });
    } catch {
      // There is no time for another attempt: the last one counts.
      if ("answer" in ended) return ended.answer;
      throw ended.error;
    }
  }
}

/** Returns the milliseconds that the collector asks for. */
function retryAfter(headers: readonly string[]): number | undefined {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "retry-after");
  const value = at === -1 ? "" : (headers[at + 1] ?? "");
  const wait = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(wait) ? Math.max(wait, 0) : undefined;
}

async function readJson(body: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > mostBytes) return undefined;
    chunks.push(chunk);
  }
  try {
    const read: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return isObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}
