/**
 * Runs a turn: asks the model, runs its calls and returns the results to the model, until the model makes no more
 * calls.
 */

import { setMaxListeners } from "node:events";
import { sleep } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { ServerState } from "../events.ts";
import type { Content, Part } from "../normalise/model-types.ts";
import { type Answer, askModel, type Draft } from "./ask-model.ts";
import { openRound } from "./calls.ts";
import { compactByRule } from "./compact.ts";
import type { DoneReason, MissingServer, TurnEvent } from "./events.ts";
import { toHostError } from "./failure-messages.ts";
import { addContents, answerText, callsIn, isUnanswered, rewind } from "./history.ts";
import type { ConversationState, SendOptions, TurnLimits } from "./state.ts";
import type { TurnHost } from "./turn-host.ts";
import { cancelled, untilAborted } from "./until-aborted.ts";

type Events<T = void> = AsyncGenerator<TurnEvent, T, undefined>;

/** After an invalid call, Fairlead asks the model again at most this many times. */
const mostMalformed = 2;

const usualLimits: TurnLimits = { turns: 50, calls: 200 };
/** No limits, for a conversation in which the user types all calls. */
const noLimits: TurnLimits = { turns: Number.POSITIVE_INFINITY, calls: Number.POSITIVE_INFINITY };

/** The state of the running turn. */
interface Account {
  readonly draft: Draft;
  calls: number;
  denied: number;
  malformed: number;
  /** True if the model has finished, or if a limit is reached. */
  isOver: boolean;
  before: ConversationState["history"];
}

/** Runs a turn. Never throws. Leaves the history in a form that the models' APIs accept. */
export async function* takeTurn(
  input: string | readonly Part[],
  options: SendOptions,
  state: ConversationState,
  host: TurnHost,
): Events {
  const draft = { text: "" };
  const account: Account = { draft, calls: 0, denied: 0, malformed: 0, isOver: false, before: state.history };
  const { signal, end } = stopWith(options.signal, host.closing);
  try {
    if (signal.aborted) throw cancelled();
    const parts = yield* read(input, options, state, host, signal);
    if (state.model.provider !== "manual") await host.loadUsedTools();
    yield* waitForServers(state, options, host, signal);
    const added: readonly Content[] = [...(options.before ?? []), { role: "user", parts: [...parts] }];
    yield* compactByRule(state, host, added, signal);
    account.before = state.history;
    addContents(state, ...added);
    const asked = state.history;
    let hasFailed = false;
    try {
      yield* goOn(state, host, account, signal);
    } catch (error) {
      hasFailed = !signal.aborted;
      throw error;
    } finally {
      if (!hasFailed) keepDraft(state, account);
      // Removes a message without an answer. If it caused the error, it would also make the next turn fail.
      else if (state.history === asked) rewind(state, account.before);
    }
  } catch (error) {
    yield signal.aborted ? done("cancelled", account) : { type: "error", error: toHostError(error) };
  } finally {
    end();
  }
}

async function* read(
  input: string | readonly Part[],
  { references = false }: SendOptions,
  { wait, chosen: servers }: ConversationState,
  host: TurnHost,
  signal: AbortSignal,
): Events<readonly Part[]> {
  if (typeof input !== "string") return input;
  if (!references) return [{ text: input }];
  const reading = host.expandReferences(input, { signal, wait, servers });
  const { parts, problems } = await untilAborted(reading, signal);
  for (const { text, error } of problems) yield { type: "note", message: `${text}: ${error.message}` };
  return parts;
}

async function* goOn(state: ConversationState, host: TurnHost, account: Account, signal: AbortSignal): Events {
  const limits = { ...(state.model.provider === "manual" ? noLimits : usualLimits), ...state.limits };
  for (let turns = 0; turns < limits.turns; turns += 1) {
    yield* announceArrivals(state, host);
    if (turns > 0) yield* compactByRule(state, host, [], signal);
    const answer = yield* askModel(state, host, account.draft, signal);
    const calls = callsIn(answer.content);
    if (calls.length === 0) {
      const isOver = yield* finish(answer, state, account);
      if (isOver) return;
      continue;
    }
    const most = limits.calls - account.calls;
    const round = openRound(calls, { state, host, signal, most });
    account.calls += calls.length;
    account.draft.text = "";
    // The answer contains the model's calls. It is recorded before they run, so that the record names them even if the
    // process is killed.
    state.record({ type: "content", content: answer.content });
    try {
      yield* round.run();
    } finally {
      // APIs require a response to every call in the history, even if the caller has stopped reading events.
      state.history = [...state.history, answer.content, ...round.end()];
      account.denied += round.denied();
    }
    if (signal.aborted) throw cancelled();
    if (calls.length > most) break;
  }
  account.isOver = true;
  yield done("limit", account);
}

/** Handles the end of an answer. Returns true if the turn is over. */
async function* finish(answer: Answer, state: ConversationState, account: Account): Events<boolean> {
  const { reason, message, content } = answer;
  if (reason === "malformed_call" && account.malformed < mostMalformed) {
    account.malformed += 1;
    yield {
      type: "note",
      message: `${message ?? "the model wrote an invalid call"}; Fairlead asks the model again`,
    };
    return false;
  }
  if (reason === "malformed_call" || reason === "other")
    throw new HostError("model", message ?? `${state.model.name} ended its answer without a reason`);
  if (message !== undefined && reason !== "stop") yield { type: "note", message };
  // Removes the user's message, because the API would block every later request that contains this message.
  if (reason === "safety" && content.parts.length === 0 && isUnanswered(state.history)) rewind(state, account.before);
  addContents(state, content);
  account.draft.text = answerText(content);
  account.isOver = true;
  yield done(reason, account);
  return true;
}

/**
 * Keeps the partial answer of a stopped turn. If there is none, adds a text in its place, because the roles in the
 * history must alternate.
 */
function keepDraft(state: ConversationState, { draft, isOver }: Account): void {
  if (isOver || (draft.text === "" && !isUnanswered(state.history))) return;
  const text = draft.text === "" ? "[Stopped by the user before there was an answer.]" : draft.text;
  addContents(state, { role: "model", parts: [{ text }] });
}

function done(reason: DoneReason, { draft, denied, calls }: Account): TurnEvent {
  return { type: "done", reason, text: draft.text, denied, calls };
}

/** Creates a signal that is aborted when one of the given signals is aborted, or when `end` is called. */
function stopWith(...signals: readonly (AbortSignal | undefined)[]): {
  readonly signal: AbortSignal;
  readonly end: () => void;
} {
  const stop = new AbortController();
  // Allows more listeners: every call of a turn listens to the signal, and Node reports more than ten as a leak.
  setMaxListeners(0, stop.signal);
  const abort = (): void => stop.abort(cancelled());
  for (const signal of signals) {
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted === true) abort();
  }
  return {
    signal: stop.signal,
    end() {
      for (const signal of signals) signal?.removeEventListener("abort", abort);
      abort();
    },
  };
}

/** Waits for each server once, for a limited time. If a server connects later, its tools are added then. */
async function* waitForServers(
  { toolSelection, chosen, notTried, awaited, missing, wait }: ConversationState,
  { waitFor }: SendOptions,
  host: TurnHost,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, void, undefined> {
  const isUnknown = (server: string): boolean => host.catalogInfo(server) === undefined;
  const all = toolSelection.servers();
  // A typed call may go to any server, unless the user chose servers.
  const wanted = waitFor?.filter((server) => chosen === undefined || all.includes(server)) ?? all;
  const strangers = wanted.filter((server) => isUnknown(server) && !awaited.has(server));
  if (strangers.length === 0) return;
  await untilAborted(host.recall(strangers), signal);
  for (const server of strangers) awaited.add(server);
  // A server in `waitFor` is started even if it failed in an earlier run, because the user's call names it.
  const skipped = waitFor === undefined ? notTried : [];
  const isTried = (server: string): boolean => !skipped.some((other) => other.server === server);
  const starting = startable(strangers.filter(isUnknown).filter(isTried), host.states());
  if (starting.length > 0 && wait > 0) yield { type: "waiting", servers: starting };
  if (starting.length > 0) await startAndWait(starting, { host, wait, signal });
  const absent = strangers.filter(isUnknown);
  for (const server of absent) missing.add(server);
  if (absent.length > 0) yield { type: "missing", servers: describe(absent, host.states(), { wait, skipped }) };
}

/** Tells the user about servers that were reported missing and are connected now. */
function* announceArrivals({ missing }: ConversationState, host: TurnHost): Generator<TurnEvent, void, undefined> {
  for (const server of missing) {
    if (host.catalogInfo(server) === undefined) continue;
    missing.delete(server);
    yield { type: "note", message: `"${server}" is connected: the model now has its tools` };
  }
}

/** Starts the servers, and waits at most `wait` milliseconds until each is connected or has failed. */
async function startAndWait(
  servers: readonly string[],
  { host, wait, signal }: { readonly host: TurnHost; readonly wait: number; readonly signal: AbortSignal },
): Promise<void> {
  const enough = new AbortController();
  const timeout = sleep(host.clock, wait, enough.signal).catch(() => undefined);
  try {
    await untilAborted(Promise.race([host.start(servers), timeout]), signal);
  } finally {
    enough.abort();
  }
}

function startable(servers: readonly string[], states: readonly ServerState[]): readonly string[] {
  const closed = new Set(
    states.flatMap(({ name, status }) => (status === "blocked" || status === "disabled" ? name : [])),
  );
  return servers.filter((server) => !closed.has(server));
}

function describe(
  servers: readonly string[],
  states: readonly ServerState[],
  { wait, skipped }: { readonly wait: number; readonly skipped: readonly MissingServer[] },
): readonly MissingServer[] {
  return servers.map((server) => {
    const reason = skipped.find((other) => other.server === server);
    if (reason !== undefined) return reason;
    const state = states.find(({ name }) => name === server);
    if (state === undefined || !("message" in state))
      return { server, message: `"${server}" did not list its tools within ${wait / 1000} s` };
    const { message, next } = state;
    return { server, message, next };
  });
}
