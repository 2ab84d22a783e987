/**
 * The spans of one request that runs: the decision, the wait for a person, and, if it belongs to no other span, the
 * request as a whole. What is sent to the server is a span of the connection (`connection-traces.ts`).
 */

import type { JsonObject } from "@fairlead/wire";
import { member } from "@fairlead/wire/json";
import type { CarriedDecision } from "../policy/decide.ts";
import type { LedgerRow } from "../request/ledger.ts";
import type { Request } from "../request/request.ts";
import { operationOf, otherFailure, toolErrorFailure } from "./mcp-attributes.ts";
import type { Attributes, Telemetry, TraceSpan } from "./telemetry.ts";
import { noContext, readTraceContext, type TraceContext, traceMeta } from "./trace-context.ts";

/** What the spans of a request say about it. */
export type TracedRequest = Pick<Request, "client" | "kind" | "serverName" | "args" | "meta" | "received">;

const samplingMethod = "sampling/createMessage";

/** Makes the spans of one request. */
export class RequestSpans {
  readonly #telemetry: Telemetry;
  readonly #request: TracedRequest;
  /** The span above all steps. */
  readonly #parent: TraceSpan | TraceContext;
  /** The span of the request, if no other span is above it, or if Fairlead is the server of the request. */
  readonly #own: TraceSpan | undefined;
  readonly #began: number = performance.now();
  #deciding: TraceSpan | undefined;
  #question: TraceSpan | undefined;

  constructor(request: TracedRequest, telemetry: Telemetry) {
    const { kind, args, meta } = request;
    const isSampling = kind === "sampling";
    const above = readTraceContext(isSampling ? member(args, "_meta") : meta) ?? telemetry.activeSpan();
    this.#telemetry = telemetry;
    this.#request = request;
    const attributes = this.#attributes();
    if (isSampling)
      this.#own = telemetry.startSpan(samplingMethod, {
        kind: "server",
        parent: above,
        attributes: { ...operationOf(samplingMethod, undefined).attributes, ...attributes },
      });
    else if (above === undefined) this.#own = telemetry.startSpan("fairlead run", { kind: "internal", attributes });
    this.#parent = this.#own ?? (above as TraceSpan | TraceContext);
    this.decides();
  }

  /** Undefined if the request belongs to no trace. */
  get traceId(): string | undefined {
    const { traceId } = this.#context;
    return traceId === noContext.traceId ? undefined : traceId;
  }

  /** What a request to the server gets as `_meta`, so that its span is a child of the request's. */
  get meta(): JsonObject {
    return { ...traceMeta(this.#context) };
  }

  get #context(): TraceContext {
    return "context" in this.#parent ? this.#parent.context : this.#parent;
  }

  /** Starts what `begin` starts, such as a server, as a part of this request. */
  within<T>(begin: () => T): T {
    return this.#telemetry.within(this.#parent, begin);
  }

  decides(): void {
    this.#deciding ??= this.#start("fairlead decide");
  }

  decided({ decision, inputs }: CarriedDecision, rule: string | undefined): void {
    const word = decision === "ask_user" ? "ask" : decision;
    this.#deciding?.set({ "fairlead.decision": word, "fairlead.rule": rule });
    this.#request.received?.decided(this.#request.serverName, word, inputs.definition !== undefined);
    this.#deciding?.end();
    this.#deciding = undefined;
  }

  /** A person is asked. */
  asks(): void {
    this.#question ??= this.#start("fairlead ask");
  }

  /** The person has answered, or the request has ended before. */
  asked(waited: number, answer: string | undefined, answeredIn: string | undefined): void {
    this.#question?.set({
      "fairlead.approval.wait_ms": Math.round(waited),
      "fairlead.approval.answer": answer,
      "fairlead.approval.place": answeredIn,
    });
    this.#question?.end();
    this.#question = undefined;
  }

  ended(outcome: LedgerRow["outcome"], error: unknown): void {
    this.#deciding?.end();
    this.#question?.end();
    this.#request.received?.ran(outcome);
    if (this.#own === undefined) return;
    const failure = failureOf(outcome, error);
    this.#own.set({ ...failure?.attributes, "fairlead.outcome": outcome });
    this.#own.end(failure?.message);
    if (this.#request.kind !== "sampling") return;
    const seconds = (performance.now() - this.#began) / 1000;
    const { attributes } = operationOf(samplingMethod, undefined);
    this.#telemetry.record("mcp.server.operation.duration", seconds, { ...attributes, ...failure?.attributes });
  }

  #start(name: string): TraceSpan {
    return this.#telemetry.startSpan(name, {
      kind: "internal",
      parent: this.#parent,
      attributes: this.#attributes(),
    });
  }

  #attributes(): Attributes {
    const { client, serverName } = this.#request;
    return { "fairlead.server": serverName, "fairlead.client": client };
  }
}

function failureOf(outcome: LedgerRow["outcome"], error: unknown): ReturnType<typeof otherFailure> | undefined {
  if (outcome === "ok") return undefined;
  if (outcome === "tool_error") return toolErrorFailure;
  return otherFailure(
    outcome === "call_timeout" ? "timeout" : outcome,
    error instanceof Error ? error.message : outcome,
  );
}
