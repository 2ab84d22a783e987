/** The spans of one connection to a server: connecting, and each request with its ids in `_meta`. */

import type { JsonObject, McpRequestOptions, Session } from "@fairlead/wire";
import { member, objectOf } from "@fairlead/wire/json";
import {
  addressOf,
  isErrorResult,
  networkAttributes,
  type OperationFailure,
  operationOf,
  sentFailure,
  toolErrorFailure,
} from "./mcp-attributes.ts";
import { shownContent } from "./shown-content.ts";
import type { Attributes, ContentRules, SpanOptions, Telemetry, TraceSpan } from "./telemetry.ts";
import { readTraceContext, withTraceContext } from "./trace-context.ts";

/** It stays open until the connection is closed, which is no failure. */
const listenMethod = "subscriptions/listen";
const duration = "mcp.client.operation.duration";

/** The server of a connection, as its spans name it. */
export interface TracedServer {
  readonly name: string;
  /** The address of an HTTP server. It may have variables that are not expanded. */
  readonly url: string | undefined;
}

/** Makes the spans of one connection and of its requests. */
export class ConnectionTraces {
  readonly #telemetry: Telemetry;
  readonly #rules: ContentRules;
  readonly #server: TracedServer;
  readonly #address: ReturnType<typeof addressOf>;
  /** The span of connecting. Lists that are read while it is open are its children. */
  #connecting: TraceSpan | undefined;
  #traced: { readonly from: Session; readonly session: Session } | undefined;

  constructor(telemetry: Telemetry, rules: ContentRules, server: TracedServer) {
    this.#telemetry = telemetry;
    this.#rules = rules;
    this.#server = server;
    this.#address = server.url === undefined ? undefined : addressOf(server.url);
  }

  /** Runs an attempt to connect in a span. It belongs to the caller's span, if a program's SDK knows one. */
  async connecting<T>(work: () => Promise<T>): Promise<T> {
    const span = this.#telemetry.startSpan("fairlead connect", {
      kind: "internal",
      parent: this.#telemetry.activeSpan(),
      attributes: { "fairlead.server": this.#server.name },
    });
    this.#connecting = span;
    try {
      const result = await work();
      span.end();
      return result;
    } catch (error) {
      const { attributes, message } = sentFailure(error);
      span.set(attributes);
      span.end(message);
      throw error;
    } finally {
      if (this.#connecting === span) this.#connecting = undefined;
    }
  }

  /** Members of `_meta` with the context of the span of connecting, for the background host that connects the server. */
  get connectingMeta(): JsonObject {
    return this.#connecting === undefined ? {} : withTraceContext(undefined, this.#connecting.context);
  }

  /**
   * Opens a session in the span of its greeting, `initialize` or `server/discover`. `open` gets the members of `_meta` for
   * the greeting.
   */
  async greeting<T extends Session>(open: (meta: JsonObject) => Promise<T>): Promise<T> {
    const { name } = this.#server;
    const request = new OpenRequest(this.#telemetry, "initialize", undefined, name, this.#connecting);
    try {
      const session = await open(withTraceContext(undefined, request.span.context));
      request.named(session.era === "modern" ? "server/discover" : "initialize");
      request.ended(undefined, this.#sessionAttributes(session));
      this.#measure(session);
      return session;
    } catch (error) {
      request.ended(sentFailure(error), {});
      throw error;
    }
  }

  /** Returns the session whose requests have spans. */
  of<T extends Session>(session: T): T {
    if (this.#traced?.from !== session) {
      const request: Session["request"] = (...sent) => this.#request(session, ...sent);
      this.#traced = { from: session, session: { ...session, request } };
    }
    return this.#traced.session as T;
  }

  async #request(
    session: Session,
    method: string,
    params?: JsonObject,
    options: McpRequestOptions = {},
  ): Promise<JsonObject> {
    // A command has already made the span of a request that it passes to the background host.
    if (member(params?.["_meta"], "traceparent") !== undefined) return session.request(method, params, options);
    const parent = readTraceContext(options.meta) ?? this.#connecting;
    const request = new OpenRequest(this.#telemetry, method, params, this.#server.name, parent);
    const { content, hide } = this.#rules;
    const shown = content();
    const isCall = method === "tools/call";
    if (shown.arguments && params !== undefined) request.span.set(shownArguments(method, params, hide));
    let failure: OperationFailure | undefined;
    try {
      const result = await session.request(method, params, {
        ...options,
        meta: withTraceContext(options.meta, request.span.context),
        onId: (id) => request.span.set({ "jsonrpc.request.id": String(id) }),
      });
      if (isCall && isErrorResult(result)) failure = toolErrorFailure;
      if (isCall && shown.results) request.span.set({ "gen_ai.tool.call.result": shownContent(result, hide) });
      return result;
    } catch (error) {
      failure = method === listenMethod && isCancelled(error) ? undefined : sentFailure(error);
      throw error;
    } finally {
      request.ended(failure, this.#sessionAttributes(session));
    }
  }

  #sessionAttributes({ protocolVersion, protocol }: Session): Attributes {
    return {
      "mcp.protocol.version": protocolVersion,
      ...networkAttributes(protocol?.transport, this.#address),
    };
  }

  /** Measures how long the session lasts. */
  #measure(session: Session): void {
    const began = performance.now();
    void session.closed.then((cause) => {
      const attributes = {
        "fairlead.server": this.#server.name,
        ...this.#sessionAttributes(session),
        "error.type": cause === undefined ? undefined : cause.code,
      };
      this.#telemetry.record("mcp.client.session.duration", (performance.now() - began) / 1000, attributes);
    });
  }
}

/** A request that is open: its span, and when it began. */
class OpenRequest {
  readonly span: TraceSpan;
  readonly #telemetry: Telemetry;
  readonly #began = performance.now();
  readonly #server: Attributes;
  #measured: Attributes;

  constructor(
    telemetry: Telemetry,
    method: string,
    params: JsonObject | undefined,
    server: string,
    parent: SpanOptions["parent"],
  ) {
    const operation = operationOf(method, params);
    this.#telemetry = telemetry;
    this.#server = { "fairlead.server": server };
    this.#measured = operation.attributes;
    this.span = telemetry.startSpan(operation.name, {
      kind: "client",
      parent,
      attributes: { ...operation.attributes, "mcp.resource.uri": operation.uri, ...this.#server },
    });
  }

  /** Corrects the method, if it was not known when the request began. */
  named(method: string): void {
    const { name, attributes } = operationOf(method, undefined);
    this.span.rename(name);
    this.span.set(attributes);
    this.#measured = attributes;
  }

  /** Ends the span and records its duration. */
  ended(failure: OperationFailure | undefined, session: Attributes): void {
    const attributes = { ...session, ...failure?.attributes };
    this.span.set(attributes);
    this.span.end(failure?.isError === true ? failure.message : undefined);
    const seconds = (performance.now() - this.#began) / 1000;
    this.#telemetry.record(duration, seconds, { ...this.#measured, ...this.#server, ...attributes });
  }
}

function isCancelled(error: unknown): boolean {
  return objectOf(error)["code"] === "cancelled";
}

function shownArguments(method: string, params: JsonObject, hide: (text: string) => string): Attributes {
  const { arguments: args } = params;
  if (args === undefined) return {};
  if (method === "tools/call") return { "gen_ai.tool.call.arguments": shownContent(args, hide) };
  if (method !== "prompts/get" || typeof args !== "object" || args === null) return {};
  const variables = Object.entries(args).slice(0, 20);
  return Object.fromEntries(
    variables.map(([name, value]) => [`gen_ai.prompt.variable.${name.slice(0, 100)}`, shownContent(value, hide)]),
  );
}
