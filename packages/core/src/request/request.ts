/** A request as data: who asks which server for what, where it is sent, and who is told about it. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, objectOf } from "@fairlead/wire/json";
import type { RawCall } from "../execute/executor.ts";
import type { ReadTimes } from "../execute/repeat.ts";
import type { TakeTurn } from "../host/gateway-types.ts";
import type { RequestOptions } from "../host/types.ts";
import type { AskedTool, ConfirmPort } from "../policy/confirmation.ts";
import type { PolicyRequest, Requester } from "../policy/decide.ts";
import type { View } from "../server/accepted-views.ts";
import type { Connection } from "../server/connection.ts";
import type { CallWatch } from "../server/registered-tool.ts";
import type { ReceivedSpan } from "../telemetry/client-traces.ts";

/** One request. `run` decides about it, sends it, records it, and returns its result as `present` shows it. */
export interface Request<Result = unknown, Shown = Result> extends PolicyRequest {
  readonly who: Requester;
  /** The tool, prompt or resource as the confirmation shows it. */
  readonly shown: AskedTool;
  readonly target: RequestTarget<Result>;
  readonly signal?: AbortSignal;
  /** What aborts `signal`, if closing the host may abort it. */
  readonly stop?: Pick<AbortController, "abort">;
  /**
   * Asks the user for confirmation. If absent, a request that needs confirmation is denied, unless `confirmed` is set.
   */
  readonly confirm?: ConfirmPort;
  /**
   * Set if the user has already confirmed the request (for example with `--yes`). Has no effect if a rule denies the
   * request.
   */
  readonly confirmed?: RequestOptions["confirmed"];
  /** Whether the user has accepted a changed definition of the tool in advance. */
  readonly acceptChanged?: boolean;
  /** `_meta` of a client's request. The trace context in it is the span that this request belongs to. */
  readonly meta?: JsonObject | undefined;
  /** The span of the client's request, which is told what becomes of it. Absent if no spans are collected. */
  readonly received?: ReceivedSpan | undefined;
  readonly watch?: Pick<CallWatch, "onAllowed" | "onStart" | "onProgress">;
  /** Waits until an allowed request of a gateway client may be sent. */
  readonly turn?: TakeTurn;
  /** Reads the view in the result, if the resource can be the view of a tool. */
  readonly viewIn?: (result: Result, listed: object | undefined) => View;
  readonly present?: (result: Result) => Shown | Promise<Shown>;
}

/** Where a request goes. `runRequest` connects the server for a call and a read only. */
export type RequestTarget<Result> = CallTarget | ReadTarget<Result> | DirectTarget<Result>;

/** A tool of a server. The executor validates, queues and repeats the call. */
interface CallTarget {
  readonly kind: "call";
  /** Milliseconds without a response or progress. Default: the server's setting. */
  readonly timeout?: number;
  /** What a modern server is told of the caller. Default: what the host declares. */
  readonly capabilities?: JsonObject | undefined;
  /** A client's call, whose result is returned exactly as the server sent it. Without it, the result is a `CallResult`. */
  readonly raw?: RawCall;
}

/** A resource or prompt of a server. It may be read a second time if the connection is lost. */
interface ReadTarget<Result> {
  readonly kind: "read";
  readonly timeout?: number;
  /** Milliseconds to wait for the server. After that, it continues to connect in the background. */
  readonly wait?: number;
  readonly send: (client: Connection, times: ReadTimes) => Promise<Result>;
}

/**
 * Something that `runRequest` does not connect itself: the user's model, the channel of a relay, or a subscription, which
 * connects its server after the decision.
 */
interface DirectTarget<Result> {
  readonly kind: "direct";
  readonly send: (signal: AbortSignal) => Promise<Result>;
  /** Whether the result is an error of the tool. */
  readonly isError?: (result: Result) => boolean;
}

/** The members of a request that `ask` needs. */
export type AskedRequest = Pick<
  Request,
  "who" | "client" | "conversation" | "kind" | "serverName" | "serverToolName" | "args" | "shown"
>;

/** What a method asks for, and the parameter that holds its name or URI. */
export interface DecidedMethod {
  readonly kind: "tool" | "prompt" | "resource";
  readonly named: "name" | "uri";
}

/** The methods that the rules decide about. */
export const decidedMethods: ReadonlyMap<unknown, DecidedMethod> = new Map([
  ["tools/call", { kind: "tool", named: "name" }],
  ["prompts/get", { kind: "prompt", named: "name" }],
  ["resources/read", { kind: "resource", named: "uri" }],
]);

/**
 * Returns the prompt or resource template that `completion/complete` is about, or undefined if `ref` names neither. A
 * completion fails if the rules deny it, because the suggested values may reveal data.
 */
export function completedSubject(
  params: JsonObject,
): { readonly kind: "prompt" | "resource"; readonly serverToolName: string } | undefined {
  const { type, name, uri } = objectOf(params["ref"]);
  if (type === "ref/prompt" && typeof name === "string") return { kind: "prompt", serverToolName: name };
  if (type === "ref/resource" && typeof uri === "string") return { kind: "resource", serverToolName: uri };
  return undefined;
}

/** Returns what the rules decide about in a client's request. Undefined for other methods and invalid names. */
export function decidedSubject(
  method: string,
  params: JsonObject,
): { readonly kind: DecidedMethod["kind"]; readonly serverToolName: string } | undefined {
  if (method === "completion/complete") return completedSubject(params);
  const { kind, named } = decidedMethods.get(method) ?? {};
  const name = params[named ?? ""];
  return kind !== undefined && typeof name === "string" ? { kind, serverToolName: name } : undefined;
}

/** Says which parameter of a client's request is missing or invalid. Undefined if none is, and for other methods. */
export function invalidParameter(method: string, params: JsonObject): string | undefined {
  const { named } = decidedMethods.get(method) ?? {};
  if (named !== undefined && (typeof params[named] !== "string" || params[named] === ""))
    return `${named} must be a string that is not empty`;
  if (named === "name" && !isObject(params["arguments"] ?? {})) return "arguments must be an object";
  if (method === "completion/complete" && completedSubject(params) === undefined)
    return "ref must name a prompt (ref/prompt) or a resource (ref/resource)";
  return undefined;
}

/** A resource read as the confirmation shows it. */
export function shownRead(serverName: string, uri: string): AskedTool {
  return { serverName, serverToolName: uri, name: "read_resource", description: "Reads a resource of the server." };
}

/** A sampling request as the confirmation shows it. */
export function shownSampling(serverName: string): AskedTool {
  const method = "sampling/createMessage";
  const description = "Sends a request to your model and uses your tokens.";
  return { serverName, serverToolName: method, name: method, description };
}

/** A host that a program wants to reach from its sandbox, as a request to the rules and the user. `host`: `name:port`. */
export function hostRequest(
  serverName: string,
  host: string,
): Pick<Request, "who" | "kind" | "serverName" | "serverToolName" | "shown"> {
  const shown = { serverName, serverToolName: host, name: host, description: "" };
  return { who: "server", kind: "host", serverName, serverToolName: host, shown };
}

/** A request to the user's model that a server has sent. */
export function samplingRequest(
  serverName: string,
  args: JsonObject,
): Pick<Request, "who" | "kind" | "serverName" | "serverToolName" | "args" | "shown"> {
  return { who: "server", kind: "sampling", serverName, serverToolName: "", args, shown: shownSampling(serverName) };
}
