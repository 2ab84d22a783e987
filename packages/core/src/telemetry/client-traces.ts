/** The spans of one client of the gateway: each request that it sends is a span of kind `server`. */

import { type JsonObject, WireError } from "@fairlead/wire";
import { objectOf, stringOf } from "@fairlead/wire/json";
import { errorMessage } from "@fairlead/wire/text";
import type { LedgerRow } from "../request/ledger.ts";
import {
  isErrorResult,
  networkAttributes,
  type OperationFailure,
  operationOf,
  otherFailure,
  rpcFailure,
  toolErrorFailure,
} from "./mcp-attributes.ts";
import type { Attributes, Telemetry, TraceSpan } from "./telemetry.ts";
import { readTraceContext, type TraceContext } from "./trace-context.ts";

const duration = "mcp.server.operation.duration";
const internalError = -32603;
const listenMethod = "subscriptions/listen";
const versionKey = "io.modelcontextprotocol/protocolVersion";
const versionForm = /^\d{4}-\d\d-\d\d$/;
/** In measurements, the name of a tool or prompt that no server has. A client can invent any number of them. */
const otherName = "_OTHER";

/** A client as its spans name it. */
export interface TracedClient {
  /** Its name in the settings, such as `claude-code`. */
  readonly name: string;
  readonly transport: "stdio" | "http";
  /**
   * Names a legacy client's HTTP session in spans. It is not the session id of the headers: who has that can send requests.
   */
  readonly session: string;
}

/** A request as it was received. */
export interface ReceivedMessage {
  readonly method: string;
  readonly params: JsonObject;
  readonly id: string | number;
  /** HTTP headers, of which the trace context counts. */
  readonly headers: unknown;
}

/** Makes the spans of one connection of a client. */
export class ClientTraces {
  readonly #telemetry: Telemetry;
  readonly #client: TracedClient;
  readonly #network: Attributes;
  readonly #began = performance.now();
  /** The version of a legacy session, once it is negotiated. */
  #version: string | undefined;

  constructor(telemetry: Telemetry, client: TracedClient) {
    this.#telemetry = telemetry;
    this.#client = client;
    this.#network = networkAttributes(client.transport, undefined);
  }

  begin(request: ReceivedMessage): ReceivedSpan {
    const { method, params, id, headers } = request;
    const { name, transport, session } = this.#client;
    const meta = objectOf(params["_meta"]);
    const modern = stringOf(meta[versionKey]);
    const version = modern ?? this.#version;
    const shown = version !== undefined && versionForm.test(version) ? version : undefined;
    const above = readTraceContext(meta);
    const header = readTraceContext(headers);
    const operation = operationOf(method, params);
    const span = this.#telemetry.startSpan(operation.name, {
      kind: "server",
      // Many clients send only the header.
      parent: above ?? header,
      links: above !== undefined && header !== undefined && header.spanId !== above.spanId ? [header] : [],
      attributes: {
        ...operation.attributes,
        "mcp.resource.uri": operation.uri,
        "jsonrpc.request.id": String(id).slice(0, 200),
        "mcp.protocol.version": shown,
        "mcp.session.id": modern === undefined && transport === "http" ? session : undefined,
        ...this.#network,
        "fairlead.client": name,
      },
    });
    const onVersion = (negotiated: string): void => {
      this.#version = negotiated;
    };
    const measured = { ...operation.attributes, "mcp.protocol.version": shown, ...this.#network };
    return new ReceivedSpan(this.#telemetry, span, method, measured, onVersion);
  }

  /** The client has disconnected. `cause`: why, unless it has closed the connection itself. */
  closed(cause: WireError | undefined): void {
    this.#telemetry.record("mcp.server.session.duration", (performance.now() - this.#began) / 1000, {
      "mcp.protocol.version": this.#version,
      ...this.#network,
      "error.type": cause?.code,
    });
  }
}

/** The span of one received request. */
export class ReceivedSpan {
  readonly #telemetry: Telemetry;
  readonly #span: TraceSpan;
  readonly #method: string;
  readonly #measured: Attributes;
  readonly #onVersion: (version: string) => void;
  readonly #began = performance.now();
  /** What is known of the request once it runs: its server, the decision, the outcome. */
  #run: Attributes = {};
  #isListed = false;
  #earlier: ReceivedSpan | undefined;

  constructor(
    telemetry: Telemetry,
    span: TraceSpan,
    method: string,
    measured: Attributes,
    onVersion: (version: string) => void,
  ) {
    this.#telemetry = telemetry;
    this.#span = span;
    this.#method = method;
    this.#measured = measured;
    this.#onVersion = onVersion;
  }

  /** Its ids, which the requests to servers have as their parent. */
  get context(): TraceContext {
    return this.#span.context;
  }

  /** This request continues an earlier one, which has waited for its client. */
  continues(earlier: ReceivedSpan): void {
    this.#earlier = earlier;
  }

  /** The request was decided about. `isListed`: whether the server has what the request names. */
  decided(server: string, decision: string, isListed: boolean): void {
    this.#isListed ||= isListed;
    this.#run = { ...this.#run, "fairlead.server": server, "fairlead.decision": decision };
  }

  ran(outcome: LedgerRow["outcome"]): void {
    this.#run = { ...this.#run, "fairlead.outcome": outcome };
  }

  answered(result: JsonObject): void {
    const version = this.#method === "initialize" ? stringOf(result["protocolVersion"]) : undefined;
    if (version !== undefined) {
      this.#onVersion(version);
      this.#run = { ...this.#run, "mcp.protocol.version": version };
    }
    const isFailed = this.#method === "tools/call" && isErrorResult(result);
    this.#end(isFailed ? toolErrorFailure : undefined, true);
  }

  /** The request got a JSON-RPC error, or none because its client has cancelled it. */
  failed(error: unknown, isCancelled: boolean): void {
    if (isCancelled) {
      const isUsual = this.#method === listenMethod;
      this.#end(isUsual ? undefined : otherFailure("cancelled", "the client has cancelled the request"), false);
      return;
    }
    const code = error instanceof WireError ? error.evidence.rpc?.code : undefined;
    this.#end(rpcFailure("server", code ?? internalError, errorMessage(error)), false);
  }

  #end(failure: OperationFailure | undefined, hasResult: boolean): void {
    if (this.#earlier !== undefined) {
      this.#isListed = this.#earlier.#isListed;
      this.#run = { ...this.#earlier.#run, ...this.#run };
    }
    const attributes = { ...this.#run, ...failure?.attributes };
    this.#span.set(attributes);
    this.#span.end(failure?.isError === true ? failure.message : undefined);
    const seconds = (performance.now() - this.#began) / 1000;
    this.#telemetry.record(duration, seconds, { ...this.#bounded(hasResult), ...attributes });
  }

  /** Attributes whose values a client can choose are measured only if they are real. */
  #bounded(hasResult: boolean): Attributes {
    const bounded = { ...this.#measured };
    if (!hasResult && bounded["mcp.protocol.version"] !== undefined) bounded["mcp.protocol.version"] = undefined;
    if (this.#isListed || (hasResult && this.#run["fairlead.server"] !== undefined)) return bounded;
    for (const name of ["gen_ai.tool.name", "gen_ai.prompt.name"])
      if (bounded[name] !== undefined) bounded[name] = otherName;
    return bounded;
  }
}
