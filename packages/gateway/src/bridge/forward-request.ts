/** Forwards a client's request to its server. `host.forward` checks the rules and writes the history. */

import { SignInNeeded } from "@fairlead/core/auth";
import { HostError } from "@fairlead/core/errors";
import type { GatewayHost } from "@fairlead/core/host";
import type { ConfirmPort } from "@fairlead/core/policy";
import { decidedMethods, decidedSubject } from "@fairlead/core/request";
import { withTraceContext } from "@fairlead/core/telemetry";
import type { JsonObject, Progress } from "@fairlead/wire";
import { isObject, member, objectOf, stringOf } from "@fairlead/wire/json";
import { ApprovalNeeded } from "../consent/confirmed-request.ts";
import { ApprovalOnPage, askForApproval } from "../questions/approval-request.ts";
import { approvedSubject } from "../questions/approval-store.ts";
import type { ClientCall } from "../questions/client-call.ts";
import { askForSignIn } from "../questions/sign-in-request.ts";
import { adaptResult, toolError } from "./adapt-result.ts";
import { askedClient } from "./asked-client.ts";
import type { BridgeContext } from "./bridge-context.ts";
import { reaches } from "./log-levels.ts";
import { withClientAddresses } from "./result-addresses.ts";
import { rpcCodes, rpcError, serverReply, toRpcError } from "./rpc-error.ts";
import { ServerQuestions } from "./server-questions.ts";
import { isTaskMethod, taskOptions } from "./tasks.ts";

/** A client's request. `params` contains the server's own names of tools and prompts. */
export interface Forwarded {
  readonly server: string;
  readonly method: string;
  readonly params: JsonObject;
  /** The address by which the client reads a resource. In `params` is the one that the server uses. */
  readonly as?: string | undefined;
  /** For `resources/read`: the URI of the skill whose file is read with `load_skill`. */
  readonly skill?: string | undefined;
  /** What a person has already approved, as returned by `approvedSubject`. */
  readonly confirmed?: string | undefined;
  /** Called when a person approves this request, with the text of `approvedSubject`. */
  readonly onYes?: ((subject: string) => void) | undefined;
  /** Called when the result asks the user to sign in to a server. */
  readonly onSignIn?: ((server: string) => void) | undefined;
}

/**
 * Forwards a request to its server and returns the result for the client.
 * @throws WireError with the JSON-RPC error for the client
 */
export async function forwardRequest(
  context: BridgeContext,
  call: ClientCall,
  request: Forwarded,
): Promise<JsonObject> {
  const { server, method } = request;
  const sentMeta = objectOf(request.params["_meta"]);
  const { client, workspace } = context;
  const { gateway } = workspace.host;
  const { beforeSend } = client;
  const clientMeta = mayHaveBaggage(gateway, server) ? sentMeta : withoutBaggage(sentMeta);
  const { received } = call;
  // With spans, the request to the server is a part of the gateway's span; without, of the client's.
  const meta = received === undefined ? clientMeta : withTraceContext(clientMeta, received.context);
  const progress = progressOf(call, meta["progressToken"]);
  const { tasks, extensions } = taskOptions(call);
  const turn = context.turns.of(server, call);
  let questions: ServerQuestions | undefined;
  try {
    // No server is started for a request that a rule denies whatever the server lists.
    const mayStart = gateway.servers.find(server)?.mustFindShared(call.era) ?? true;
    const isDenied = mayStart && (await isDeniedToClient(context, request));
    const connection = isDenied ? undefined : await workspace.connectionOf(server, call.era);
    const asked = new ServerQuestions(context, call, server);
    questions = asked;
    if (connection !== undefined) context.levels.apply(gateway, connection, client, call);
    const owner = {
      client,
      principal: workspace.principal,
      server,
      scope: () => gateway.servers.find(server)?.taskScope(connection),
    };
    const sent = withoutMeta(request.params);
    const params = isTaskMethod(method) ? await context.tasks.toServer(owner, sent) : sent;
    // Avoids spreads and extra promises, which take longer here than sending the request.
    const result = await gateway.forward(
      { client, server, method, params },
      {
        connection,
        signal: call.signal,
        stop: call.stop,
        meta,
        received,
        answer: (...question) => {
          // The server waits for the client, perhaps for a person. Meanwhile, other requests may be sent.
          turn.leave();
          return asked.answer(...question);
        },
        turn: turn.take,
        capabilities: asked.carried(extensions),
        input: call.era === "modern" ? "caller" : undefined,
        tasks,
        confirmed:
          request.confirmed !== undefined && request.confirmed === approvedIn(gateway, request) ? true : undefined,
        skill: request.skill,
        actingOn:
          request.skill === undefined
            ? context.loadedSkills.servers
            : context.loadedSkills.actingOn(server, request.skill),
        confirm: confirmationOf(context, call, request, progress),
        beforeSend: beforeSend && (() => beforeSend(call.id, subjectOf(request))),
        onProgress: progress?.report,
        logLevel: call.logLevel,
        onNotification: (name, news) => passOn(call, name, news),
      },
    );
    context.heap.check();
    if (result["isError"] === true) questions.throwIfLacking();
    const addressed = withClientAddresses(context, request, result);
    const own = isObject(addressed["inputRequests"]) ? await questions.inResult(addressed) : addressed;
    return adaptResult(method, "taskId" in own ? await context.tasks.toClient(owner, method, own) : own, call.era);
  } catch (error) {
    if (serverReply(error) !== undefined) questions?.throwIfLacking();
    if (error instanceof ApprovalOnPage) return askForApproval(call, method, error);
    return signInAsked(error, context, call, request) ?? failed(error, call, request);
  } finally {
    questions?.end();
  }
}

/** Whether a rule denies the request whatever the server lists. */
export async function isDeniedToClient(
  { client, workspace }: BridgeContext,
  { server, method, params }: Forwarded,
): Promise<boolean> {
  const { kind, serverToolName: name } = decidedSubject(method, params) ?? {};
  if (name === undefined) return false;
  const args = objectOf(params["arguments"]);
  const { isDeniedByName: isDenied } = await workspace.host.explain(server, name, args, {
    kind,
    client: client.name,
  });
  return isDenied;
}

/** If the request failed because the user must sign in, returns what asks for it. */
function signInAsked(
  error: unknown,
  { signIns, client, workspace: { principal } }: BridgeContext,
  call: ClientCall,
  { server, method, onSignIn }: Forwarded,
): JsonObject | undefined {
  const needed = SignInNeeded.in(error);
  if (needed === undefined || signIns === undefined || principal === undefined) return undefined;
  onSignIn?.(server);
  const link = signIns.linkFor({ principal, client: client.name, server, scopes: needed.scopes });
  return askForSignIn(call, method, needed, link);
}

function withoutMeta(params: JsonObject): JsonObject {
  if (!("_meta" in params)) return params;
  const { _meta, ...others } = params;
  return others;
}

/** The trace context passes. Baggage has values of the client's program, which are no business of its servers. */
function withoutBaggage(meta: JsonObject): JsonObject {
  if (!("baggage" in meta)) return meta;
  const { baggage: _, ...others } = meta;
  return others;
}

function mayHaveBaggage(gateway: GatewayHost, server: string): boolean {
  return gateway.servers.find(server)?.definition?.extras.baggage === true;
}

/** Passes on log messages and the end of elicitations. Other notifications concern only the gateway. */
function passOn(call: ClientCall, name: string, news: JsonObject): void {
  const isWanted = name === "notifications/message" && wantsMessage(call, news["level"]);
  const isComplete = name === "notifications/elicitation/complete" && call.era === "legacy";
  if (isWanted || isComplete) call.notify(name, news);
}

/**
 * A legacy client without a log level gets all log messages. A modern client gets none, unless the request sets a log
 * level.
 */
function wantsMessage({ era, logLevel }: ClientCall, level: unknown): boolean {
  return logLevel === undefined ? era === "legacy" : reaches(level, logLevel);
}

/** Returns, for example, `files.write_file`. */
function subjectOf({ server, method, params }: Forwarded): string {
  const named = decidedMethods.get(method)?.named;
  return `${server}.${(named && stringOf(params[named])) ?? method}`;
}

function approvedIn(gateway: GatewayHost, request: Forwarded): string {
  return approvedSubject(subjectOf(request), gateway.identify(request.server));
}

function confirmationOf(
  context: BridgeContext,
  call: ClientCall,
  request: Forwarded,
  progress: ReportedProgress | undefined,
): ConfirmPort | undefined {
  const { server, method, onYes } = request;
  const { gateway } = context.workspace.host;
  if (!decidedMethods.has(method)) return undefined;
  return async (question, until) => {
    const client = { ...askedClient(context, call), stillWaiting: progress?.wait };
    const port = context.consent.port(client, call.signal, gateway.identify(server));
    const person = { wasNeeded: false };
    await port(async () => {
      const details = await question();
      // A host that the server wants meanwhile is another request.
      if (details !== false && details.kind !== "host") person.wasNeeded = true;
      return details;
    }, until);
    if (person.wasNeeded) onYes?.(approvedIn(gateway, request));
  };
}

interface ReportedProgress {
  readonly report: (progress: Progress) => void;
  /** Reports to the client that its request waits for a person's answer. */
  readonly wait: (message: string) => void;
}

/** Returns undefined if the client wants no progress. Reports only values that increase, as MCP requires. */
function progressOf(call: ClientCall, progressToken: unknown): ReportedProgress | undefined {
  if (progressToken === undefined) return undefined;
  let last = Number.NEGATIVE_INFINITY;
  let waits = 0;
  function report(progress: Progress): void {
    if (progress.progress <= last) return;
    last = progress.progress;
    call.notify("notifications/progress", { ...progress, progressToken });
  }
  return {
    report,
    wait(message) {
      waits += 1;
      // Values must increase, and a server usually starts at 0. So the gateway's own values, which come first, are
      // negative.
      report({ progress: -1 / waits, message });
    },
  };
}

/** Refusals of a tool call that a model can act on: it corrects the arguments, or tells the user what is missing. */
const shownToModel: ReadonlySet<string> = new Set(["denied", "changed", "arguments_invalid"]);

/** Throws the error for the client. A refused tool call becomes a result with `isError` instead. */
function failed(error: unknown, call: ClientCall, { method, params, as }: Forwarded): JsonObject {
  const reply = serverReply(error);
  const { code, data: sent } = reply?.evidence.rpc ?? {};
  const isNamed = as !== undefined && as !== params["uri"] && member(sent, "uri") === params["uri"];
  const data = isNamed ? { ...objectOf(sent), uri: as } : sent;
  if (reply !== undefined && call.era === "modern" && code === rpcCodes.resourceNotFound)
    throw rpcError(rpcCodes.invalidParams, reply.message, data);
  const isNotFound = method === "resources/read" && code === rpcCodes.invalidParams;
  if (reply !== undefined && call.era === "legacy" && isNotFound && member(sent, "uri") === params["uri"])
    throw rpcError(rpcCodes.resourceNotFound, reply.message, data);
  if (reply !== undefined && call.era === "legacy" && code === rpcCodes.missingCapability)
    throw rpcError(
      rpcCodes.missingCapability,
      `the server needs a capability that this client does not declare: ${reply.message}`,
      data,
    );
  if (reply !== undefined && isNamed && code !== undefined) throw rpcError(code, reply.message, data);
  const isShown = error instanceof HostError && shownToModel.has(error.code) && method === "tools/call";
  if (reply === undefined && isShown) return toolError(refusalText(error), call.era);
  if (error instanceof ApprovalNeeded)
    throw rpcError(rpcCodes.refused, error.message, {
      reason: "needs_approval",
      id: error.id,
      command: error.next,
    });
  throw toRpcError(error);
}

function refusalText(error: HostError): string {
  // The command after invalid arguments shows the tool's schema, which the model already has.
  const isComplete = error instanceof ApprovalNeeded || error.code === "arguments_invalid" || error.next === undefined;
  return isComplete ? error.message : `${error.message}\nNext: ${error.next}`;
}
