/** The path of every request: decide, confirm, connect, decide again if an input changed, execute, record, present. */

import type { JsonObject } from "@fairlead/wire";
import { type Clock, sleep } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { ExecuteOptions, Executor } from "../execute/executor.ts";
import { callCancelled, sendRead } from "../execute/repeat.ts";
import { type AnswerPlace, isYes, type ToolCallConfirmationDetails } from "../policy/confirmation.ts";
import type { CarriedDecision, Decisions, PolicyRequest } from "../policy/decide.ts";
import { isChangedRule } from "../policy/rules/built-in-rules.ts";
import type { ruleText } from "../policy/rules/rule-text.ts";
import type { Connection } from "../server/connection.ts";
import type { Server } from "../server/server.ts";
import type { Servers } from "../server/servers.ts";
import type { RequestSpans } from "../telemetry/request-spans.ts";
import type { HostTelemetry } from "../telemetry/telemetry.ts";
import { traceIdIn } from "../telemetry/trace-context.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { unlessAborted } from "../unless-aborted.ts";
import { answerOf, type LedgerRow, type RequestLedger } from "./ledger.ts";
import type { BegunWork, OpenWork } from "./open-work.ts";
import type { AskedRequest, Request, RequestTarget } from "./request.ts";
import type { RequestWatch, RunningRequest } from "./request-watch.ts";

/** The parts of a host that its requests use. */
export interface RequestHost {
  readonly servers: Servers;
  /** The rules and confirmations that apply now. Looks at the policy files before it returns. */
  readonly rules: () => Decisions | Promise<Decisions>;
  readonly executor: () => Promise<Executor<Connection>>;
  readonly ledger: Pick<RequestLedger, "begin" | "record">;
  readonly work: OpenWork;
  /** The programs that show the running requests. */
  readonly requests: RequestWatch;
  readonly telemetry: HostTelemetry;
  readonly clock: Clock;
}

type AnyRequest = Omit<Request, "target" | "present" | "viewIn"> & {
  readonly target: { readonly kind: RequestTarget<unknown>["kind"]; readonly wait?: number };
};

/** What is known about a running request, for its later steps and its row in the ledger. */
interface Progress {
  readonly began: number;
  /** What programs see of the request. */
  readonly running: RunningRequest;
  /** Absent if no spans are collected. */
  readonly spans: RequestSpans | undefined;
  decision?: CarriedDecision;
  /** What the ledger has noted before the request was sent. */
  begun?: string;
  isAnswered?: boolean;
  /** The user's answer to the confirmation; absent if the user gave none. */
  how?: "yes" | "no" | "typed" | "edited";
  /** The place where a gateway's user answered. */
  answeredIn?: AnswerPlace;
  /** How long the request has waited for the user. Absent if the user was not asked. */
  confirmationMs?: number;
  /** Identifies the arguments and the definition that the user approved for this one request. */
  confirmedKey?: string;
  /** Whether the tool's definition changed while the user was asked. A yes then has no effect. */
  isOutdated?: boolean;
  /** Whether the decision changed after the server was connected. */
  isNew?: boolean;
}

/**
 * Runs a request.
 *
 * @throws HostError `denied` or `changed` if it may not run, `cancelled`, or the error of connecting or executing it
 */
export function runRequest<Result, Shown = Result>(request: Request<Result, Shown>, host: RequestHost): Promise<Shown> {
  const work = host.work.begin(request.signal, request.stop, host.requests.isWatched);
  const { end } = work;
  const running = runSteps(request, host, work);
  // This also handles a rejection. If the caller awaits the promise only later, Node would otherwise end the process.
  running.then(end, end);
  return running;
}

async function runSteps<Result, Shown>(
  request: Request<Result, Shown>,
  host: RequestHost,
  work: BegunWork,
): Promise<Shown> {
  host.work.refuseIfClosed();
  const { signal } = work;
  const began = host.clock.now();
  const running = host.requests.begin(request, work);
  const loading = host.telemetry.load();
  if (loading) await loading;
  const spans = host.telemetry.current?.request(request);
  const textOf = spans && (await loadRuleText());
  const progress: Progress = { began, running, spans };
  let release: (() => void) | undefined;
  let leave: (() => void) | undefined;
  let result: Result;
  try {
    const rules = await host.rules();
    let decision = rules.take(request);
    progress.decision = decision;
    spans?.decided(decision, textOf?.(decision.rule));
    if (decision.decision === "deny" && rules.isDeniedByName(request)) throw await refusal(request, decision, host);
    if (decision.decision === "ask_user") {
      if (asksBeforeConnecting(request, decision)) decision = await confirm(request, decision, host, signal, progress);
      else if (isUnanswerable(request, decision)) throw await refusal(request, decision, host);
    }
    if (request.target.kind !== "direct") release = (request.connection ?? host.servers.get(request.serverName)).use();
    let client = readyNow(request, host);
    // If nothing was awaited since the decision, no input of it can have changed.
    if (client === undefined || decision.decision !== "allow") {
      const begin = (): Promise<Connection | undefined> => connect(request, host, signal);
      client = await (spans ? spans.within(begin) : begin());
      decision = await decideAgain(request, decision, host, signal, progress);
    }
    if (request.watch?.onAllowed) request.watch.onAllowed(await ruleWords(decision));
    while (request.turn !== undefined) {
      leave = await takeTurn(request.turn, request, host, signal);
      // While the request waited for its turn, the rules may have changed, or the server may have reported a change.
      client = await connect(request, host, signal);
      if ((await host.rules()).isCurrent(decision, request)) break;
      // A person may have to be asked, and that takes no turn.
      leave();
      leave = undefined;
      decision = await decideAgain(request, decision, host, signal, progress);
    }
    if (host.ledger.begin !== undefined) {
      progress.begun = await host.ledger.begin(request);
      // Meanwhile, the rules or the tool's definition may have changed.
      decision = await decideAgain(request, decision, host, signal, progress);
    }
    const executor = request.target.kind === "call" ? await host.executor() : undefined;
    if (signal.aborted) throw cancelled(request, signal);
    result = await execute(request, client, executor, host, signal, spans?.meta);
    // A person may have to be asked, and that takes no turn.
    leave?.();
    leave = undefined;
    if (request.viewIn !== undefined) await checkView(request, result, decision, host, signal, progress);
  } catch (error) {
    const recorded = record(request, progress, error instanceof HostError ? error.code : "internal", host, { error });
    if (recorded !== undefined) await recorded;
    throw error;
  } finally {
    leave?.();
    release?.();
  }
  const recorded = record(request, progress, isToolError(request.target, result) ? "tool_error" : "ok", host, {
    result,
  });
  if (recorded !== undefined) await recorded;
  return request.present ? request.present(result) : (result as unknown as Shown);
}

/** Asks about a request of a model or client before its server starts, if the user can see what would run. */
function asksBeforeConnecting({ who, kind = "tool", target }: AnyRequest, { inputs }: CarriedDecision): boolean {
  return who !== "user" && (kind !== "tool" || target.kind === "direct" || inputs.definition !== undefined);
}

/** Whether the request needs confirmation and has no way to ask, whatever the server lists. */
function isUnanswerable(request: AnyRequest, decision: CarriedDecision): boolean {
  const { kind = "tool", confirm: port } = request;
  const mayDiffer = isChangedRule(decision.rule) || (kind === "tool" && decision.rule.annotations !== undefined);
  return !mayDiffer && port === undefined && !isAnsweredInAdvance(request, decision);
}

/**
 * Compares the view of a tool that a client has read with the accepted one. If it differs, asks the user before the
 * client gets it.
 */
async function checkView<Result>(
  request: Request<Result, unknown>,
  result: Result,
  decision: CarriedDecision,
  host: RequestHost,
  signal: AbortSignal,
  progress: Progress,
): Promise<void> {
  const { serverName, serverToolName: uri, connection } = request;
  const server = host.servers.get(serverName);
  const tools = server.toolsWithView(uri, connection);
  if (tools.length === 0) return;
  const listed = (connection ?? server.shared)?.filteredCatalog?.catalog.resources.find((one) => one.uri === uri);
  const view = request.viewIn?.(result, listed);
  if (view === undefined) return;
  if (server.views.meet(tools, view)) await server.saveAccepted();
  await decideAgain({ ...request, view }, decision, host, signal, progress);
}

/** Decides again if an input of the decision has changed, and asks the user if that is needed now. */
async function decideAgain(
  request: AnyRequest,
  first: CarriedDecision,
  host: RequestHost,
  signal: AbortSignal,
  progress: Progress,
): Promise<CarriedDecision> {
  const { spans } = progress;
  const textOf = spans && (await loadRuleText());
  const rules = await host.rules();
  let decision = first;
  if (!rules.isCurrent(decision, request)) {
    spans?.decides();
    decision = rules.decide(request);
    progress.isNew = true;
    spans?.decided(decision, textOf?.(decision.rule));
  }
  if (decision.decision === "allow") {
    progress.decision = decision;
    return decision;
  }
  decision = await confirm(request, decision, host, signal, progress);
  // The server may have reported a change while the user was asked.
  await connect(request, host, signal);
  const latest = await host.rules();
  if (latest.isCurrent(decision, request)) return decision;
  throw (await import("../policy/refusal.ts")).changedWhileAsked(request, latest.decide(request));
}

/**
 * Returns the decision if the rules allow the request or the user confirms it.
 *
 * @throws HostError `denied` or `changed`
 */
async function confirm(
  request: AnyRequest,
  first: CarriedDecision,
  host: RequestHost,
  signal: AbortSignal,
  progress: Progress,
): Promise<CarriedDecision> {
  let rules = await host.rules();
  let decision = rules.isCurrent(first, request) ? first : rules.decide(request);
  progress.decision = decision;
  // A confirmation through `ask` is valid for only one request.
  if (decision.decision === "ask_user" && request.confirm === undefined && request.who !== "user")
    progress.confirmedKey ??= rules.takeConfirmation(request) ? rules.confirmationKey(request) : undefined;

  async function decideOnceMore(): Promise<void> {
    rules = await host.rules();
    decision = rules.decide(request);
    // For a request from the user, the ledger keeps the rule that required the confirmation.
    if (request.who !== "user") progress.decision = decision;
  }

  const isChangedTool = isChangedRule(decision.rule) && hasAcceptedDefinition(request);
  if (decision.decision === "ask_user" && isChangedTool && request.acceptChanged === true) {
    await rules.accept(request);
    progress.isAnswered = true;
    await decideOnceMore();
  }
  const isOpen = (): boolean =>
    decision.decision === "ask_user" &&
    !isAnsweredInAdvance(request, decision) &&
    (progress.confirmedKey === undefined || progress.confirmedKey !== rules.confirmationKey(request));
  for (let asked = 0; isOpen() && request.confirm && asked < 2; asked += 1) {
    await askUser(request, decision, host, signal, progress);
    await decideOnceMore();
    // The user's yes was about an earlier definition: the changed one is shown, once.
    const isForEarlier = progress.confirmedKey !== undefined && progress.isOutdated !== true;
    if (request.who === "user" || !isForEarlier) break;
  }
  if (decision.decision === "deny") throw await refusal(request, decision, host);
  if (isOpen()) throw await unconfirmed(request, decision, progress, host);
  if (decision.decision === "ask_user") progress.isAnswered = true;
  return decision;
}

/** Asks the user. Does not ask if the answer to an earlier question already allows the request. */
async function askUser(
  request: AnyRequest,
  first: CarriedDecision,
  host: RequestHost,
  signal: AbortSignal,
  progress: Progress,
): Promise<void> {
  const { rules: current, work, clock } = host;
  let decision = first;
  progress.confirmedKey = undefined;
  progress.how = undefined;
  const asked = request.confirm?.(async () => {
    const rules = await current();
    if (!rules.isCurrent(decision, request)) decision = rules.decide(request);
    if (decision.decision === "deny") throw await refusal(request, decision, host);
    if (decision.decision === "allow") return false;
    const details = rules.question(request, decision, request.shown, {
      isOpen: () => !signal.aborted,
      onYes(key) {
        progress.isAnswered = true;
        progress.confirmedKey = key;
      },
      onOutdated() {
        progress.isOutdated = true;
      },
      onAnswer(how, answeredIn) {
        progress.how = how;
        progress.answeredIn = answeredIn;
      },
    });
    return countedAnswer(details, work);
  });
  const began = clock.now();
  progress.running.asks();
  progress.spans?.asks();
  try {
    await unlessAborted(Promise.resolve(asked), signal, () => cancelled(request, signal));
    progress.running.asked();
  } finally {
    const waited = Math.round(clock.now() - began);
    progress.confirmationMs = (progress.confirmationMs ?? 0) + waited;
    progress.spans?.asked(waited, progress.how, progress.answeredIn);
  }
}

/**
 * Returns the same confirmation, but closing the host waits until its answer is saved. Waiting for the request is not
 * enough: a cancelled request ends before its answer is saved. After closing, answers have no effect.
 */
function countedAnswer(details: ToolCallConfirmationDetails, work: OpenWork): ToolCallConfirmationDetails {
  const onConfirm: ToolCallConfirmationDetails["onConfirm"] = async (outcome, how) => {
    if (!work.closing.aborted) await work.run(() => details.onConfirm(outcome, how));
  };
  return { ...details, onConfirm };
}

/** The connection of a call whose server is connected, with nothing to read or save before the call. */
function readyNow({ serverName, target, connection }: AnyRequest, { servers }: RequestHost): Connection | undefined {
  if (target.kind !== "call") return undefined;
  const server = servers.get(serverName);
  const { connected } = connection ?? server;
  const reading = connected?.upToDate("tools");
  // `connect` waits for the same reading, and reports why it failed.
  reading?.catch(() => undefined);
  return reading === undefined && server.acceptedSaved() === undefined ? connected : undefined;
}

/**
 * Connects the server, and waits until its lists are as it last reported them: a request that was allowed by an older
 * definition must not reach a tool or prompt that has changed.
 */
async function connect(
  { serverName, serverToolName, kind, target, connection }: AnyRequest,
  { servers, clock }: RequestHost,
  signal: AbortSignal,
): Promise<Connection | undefined> {
  if (target.kind === "direct") return undefined;
  const server = servers.get(serverName);
  if (target.kind === "read") {
    const reader = await readyWithin(server, target.wait, clock, signal, connection);
    const list = kind === "prompt" ? "prompts" : kind === "skill" ? "resources" : undefined;
    const reading = list && reader.upToDate(list);
    if (reading) await unlessAborted(reading, signal, () => cancelled({ serverName, serverToolName, kind }, signal));
    return reader;
  }
  const client = (connection ?? server).connected ?? (await server.ready(signal, connection));
  const reading = client.upToDate("tools");
  if (reading) await unlessAborted(reading, signal, () => callCancelled(serverName, serverToolName, signal));
  // A new definition that cannot be saved needs confirmation, so the call waits for the save.
  await server.acceptedSaved();
  return client;
}

/**
 * Waits at most `wait` milliseconds until the server is connected. After that, the server continues to connect in the
 * background.
 */
export async function readyWithin(
  server: Server,
  wait: number | undefined,
  clock: Clock,
  signal?: AbortSignal,
  own?: Connection,
): Promise<Connection> {
  if (wait === undefined) return server.ready(signal, own);
  const { name: serverName } = server;
  const enough = new AbortController();
  const late = sleep(clock, wait, enough.signal).then(() => {
    throw new HostError("connect_timeout", `"${serverName}" is not connected after ${wait / 1000} s`, { serverName });
  });
  try {
    return await Promise.race([server.ready(signal, own), late]);
  } finally {
    late.catch(() => undefined);
    enough.abort();
  }
}

async function takeTurn(
  turn: NonNullable<Request["turn"]>,
  request: AnyRequest,
  { servers }: RequestHost,
  signal: AbortSignal,
): Promise<() => void> {
  try {
    return await turn(servers.configuration.settings.host.limits, signal);
  } catch (error) {
    throw signal.aborted ? cancelled(request, signal) : error;
  }
}

function execute<Result>(
  request: Request<Result, unknown>,
  client: Connection | undefined,
  executor: Executor<Connection> | undefined,
  host: RequestHost,
  signal: AbortSignal,
  meta: JsonObject | undefined,
): Promise<Result> {
  const { serverName, target, watch, args } = request;
  if (target.kind === "direct") return target.send(signal);
  const server = host.servers.get(serverName);
  if (client === undefined) throw new TypeError("a call and a read have a connection");
  const { timeout = server.timeout } = target;
  const total = host.servers.configuration.settings.host.limits.callTotal;
  if (target.kind === "read") {
    const subject = readSubject(request, client, server);
    return sendRead(
      client,
      target.send,
      { signal, timeout, total, meta },
      {
        reconnect: (until) => client.ready(until),
        isStill: (next) => readSubject(request, next, host.servers.find(serverName)) === subject,
        clock: host.clock,
      },
    );
  }
  if (executor === undefined) throw new TypeError("a call has an executor");
  const how: ExecuteOptions = {
    signal,
    timeout,
    total,
    trustAnnotations: server.definition?.extras.trustAnnotations ?? false,
    onProgress: watch?.onProgress,
    meta,
    onStart: watch?.onStart,
    isInTurn: request.turn !== undefined,
    capabilities: target.capabilities,
  };
  const call = { client, tool: request.serverToolName, args: args ?? {}, raw: target.raw };
  return executor.call(call, how) as Promise<Result>;
}

/**
 * Identifies what the user allowed. It changes with the server's definition. For a prompt, it also changes with the
 * prompt's definition and the server's instructions.
 */
function readSubject(
  { serverToolName, kind }: PolicyRequest,
  { filteredCatalog }: Connection,
  server: Server | undefined,
): string {
  const { prompts = [], instructions } = filteredCatalog?.catalog ?? {};
  const prompt = kind === "prompt" && [prompts.find(({ name }) => name === serverToolName), instructions];
  return canonicalJson([server?.definition?.fingerprint, prompt]);
}

function isToolError<Result>(target: RequestTarget<Result>, result: Result): boolean {
  if (target.kind === "direct") return target.isError?.(result) ?? false;
  return target.kind === "call" && (result as { readonly isError?: unknown }).isError === true;
}

/**
 * Writes one row into the ledger, whatever became of the request, unless the rules could not be read. Tells the programs
 * that watch.
 */
function record(
  request: AnyRequest,
  progress: Progress,
  outcome: LedgerRow["outcome"],
  host: RequestHost,
  facts: { readonly error?: unknown; readonly result?: unknown },
): Promise<void> | undefined {
  const { began, begun, running, spans, decision, isAnswered, how, answeredIn, confirmationMs } = progress;
  running.ended(outcome, facts);
  spans?.ended(outcome, facts.error);
  if (decision === undefined) return undefined;
  const { acceptChanged, confirmed } = request;
  const needsConfirmation = decision.decision === "ask_user";
  const { answer, refusal: why } =
    needsConfirmation || isAnswered === true
      ? answerOf({ outcome, needsConfirmation, isAnswered, how, acceptChanged, confirmed })
      : {};
  const durationMs = Math.round(host.clock.now() - began);
  const traceId = spans?.traceId ?? traceIdIn(request.meta);
  const row = { request, decision, outcome, answer, answeredIn, refusal: why, durationMs, confirmationMs, traceId };
  return host.ledger.record(row, begun);
}

/**
 * Decides about a request without running it, for a program that shows the confirmation itself. Returns the
 * confirmation to show, or `false` if none is needed. `run` uses the answer for the next equal request.
 *
 * @throws HostError `denied`, with the rule that denies the request
 */
export function ask(
  request: AskedRequest,
  host: Pick<RequestHost, "rules" | "ledger" | "work" | "servers">,
): Promise<ToolCallConfirmationDetails | false> {
  const { rules: current, ledger, work } = host;
  return work.run(async () => {
    const rules = await current();
    const decision = rules.decide(request);
    const denied: LedgerRow = { request, decision, outcome: "denied", durationMs: 0 };
    if (decision.decision === "deny") {
      await ledger.record(denied);
      throw await refusal(request, decision, host);
    }
    if (decision.decision === "allow") {
      rules.carry(request, decision);
      return false;
    }
    const details = rules.question(request, decision, request.shown);
    let isAnswered = false;
    const onConfirm: ToolCallConfirmationDetails["onConfirm"] = (outcome) =>
      work.run(async () => {
        const isFirstNo = !isAnswered && !isYes(outcome);
        isAnswered = true;
        if (isFirstNo) await ledger.record({ ...denied, refusal: "user" });
        await details.onConfirm(outcome);
      });
    return { ...details, onConfirm };
  });
}

/**
 * Whether the request's option `confirmed` answers this decision. It does not for a changed tool: the user must accept
 * the change explicitly. For a changed prompt, it does only if the request has no `confirm`.
 */
function isAnsweredInAdvance(
  { kind = "tool", confirmed = false, confirm: port }: AnyRequest,
  { rule }: CarriedDecision,
): boolean {
  if (isChangedRule(rule)) return !hasAcceptedDefinition({ kind }) && port === undefined && confirmed !== false;
  return confirmed !== false;
}

/** Whether the user accepts definitions for requests of this kind: of tools, and of skills. */
function hasAcceptedDefinition({ kind = "tool" }: Pick<PolicyRequest, "kind">): boolean {
  return kind === "tool" || kind === "skill";
}

async function refusal(
  request: PolicyRequest,
  decision: CarriedDecision,
  { servers }: Pick<RequestHost, "servers">,
): Promise<HostError> {
  const { refusal: createRefusal } = await import("../policy/refusal.ts");
  // `policy explain` reads the cache: if that cannot be written, the command does not know of the change.
  return createRefusal(
    request,
    decision,
    isChangedRule(decision.rule) ? await servers.context.cache.whyNotKept() : undefined,
  );
}

async function unconfirmed(
  request: AnyRequest,
  decision: CarriedDecision,
  { isNew = false, isOutdated = false }: Progress,
  host: Pick<RequestHost, "servers">,
): Promise<HostError> {
  const { changedWhileAsked, notConfirmed } = await import("../policy/refusal.ts");
  if (isOutdated) return changedWhileAsked(request, decision);
  if (request.who !== "model" || (isNew && isChangedRule(decision.rule))) return refusal(request, decision, host);
  return notConfirmed(request);
}

async function ruleWords({ rule }: CarriedDecision): Promise<string> {
  return (await loadRuleText())(rule);
}

/** Loads how a rule is described, before the decision: what is awaited after it may outdate it. */
async function loadRuleText(): Promise<typeof ruleText> {
  return (await import("../policy/rules/rule-text.ts")).ruleText;
}

/** The error of a request that was cancelled before it was sent. */
function cancelled({ serverName, serverToolName, kind = "tool" }: PolicyRequest, { reason }: AbortSignal): HostError {
  const name = kind === "tool" ? `${serverName}.${serverToolName}` : serverToolName || `a request to "${serverName}"`;
  return new HostError("cancelled", `${name} was cancelled before it was sent`, { serverName, cause: reason });
}
