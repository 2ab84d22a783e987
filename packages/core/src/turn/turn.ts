/**
 * Runs a turn: asks the model, runs its calls and returns the results to the model, until the model makes no more
 * calls.
 */

import { setMaxListeners } from "node:events";
import { sleep } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { RunningHost } from "../host/running-host.ts";
import type { ModelEvent } from "../model/model.ts";
import type { Content, Part } from "../normalise/model-types.ts";
import { expandReferences } from "../request/reads.ts";
import { Round } from "./calls.ts";
import { compactByRule } from "./compact.ts";
import type { ConversationState, SendOptions, TurnLimits } from "./conversation.ts";
import type { DoneReason, MissingServer, TurnEvent } from "./events.ts";
import { toHostError } from "./failure-messages.ts";
import { addContents, answerText, callsIn, isUnanswered, rewind } from "./history.ts";
import { provenFor, removeRefused } from "./refused-tools.ts";
import { SystemText } from "./system-text.ts";
import type { ToolOffer } from "./tools/tool-offer.ts";
import { cancelled, streamUntilAborted, untilAborted } from "./until-aborted.ts";

type Events<T = void> = AsyncGenerator<TurnEvent, T, undefined>;
/** A complete answer of the model, and why the model stopped. */
type Answer = Extract<ModelEvent, { type: "finish" }>;

/** After an invalid call, Fairlead asks the model again at most this many times. */
const mostMalformed = 2;

const usualLimits: TurnLimits = { turns: 50, calls: 200 };
/** No limits, for a conversation in which the user types all calls. */
const noLimits: TurnLimits = { turns: Number.POSITIVE_INFINITY, calls: Number.POSITIVE_INFINITY };

/** Runs a turn. Never throws. Leaves the history in a form that the models' APIs accept. */
export async function* takeTurn(
  input: string | readonly Part[],
  options: SendOptions,
  state: ConversationState,
  host: RunningHost,
): Events {
  const { signal, end } = stopWith(options.signal, host.work.closing);
  try {
    yield* new Turn(options, state, host, signal).run(input);
  } finally {
    end();
  }
}

class Turn {
  readonly #options: SendOptions;
  readonly #state: ConversationState;
  readonly #host: RunningHost;
  readonly #signal: AbortSignal;
  /** The model's text so far. If the turn is stopped, Fairlead keeps this text in the history. */
  #text = "";
  #calls = 0;
  #denied = 0;
  #malformed = 0;
  /** True if the model has finished, or if a limit is reached. */
  #isOver = false;
  #before: readonly Content[];

  constructor(options: SendOptions, state: ConversationState, host: RunningHost, signal: AbortSignal) {
    this.#options = options;
    this.#state = state;
    this.#host = host;
    this.#signal = signal;
    this.#before = state.history;
  }

  async *run(input: string | readonly Part[]): Events {
    const state = this.#state;
    const signal = this.#signal;
    try {
      if (signal.aborted) throw cancelled();
      const parts = yield* this.#read(input);
      yield* this.#waitForServers();
      const added: readonly Content[] = [...(this.#options.before ?? []), { role: "user", parts: [...parts] }];
      yield* compactByRule(state, this.#host, added, signal);
      this.#before = state.history;
      addContents(state, ...added);
      const asked = state.history;
      let hasFailed = false;
      try {
        yield* this.#loop();
      } catch (error) {
        hasFailed = !signal.aborted;
        throw error;
      } finally {
        if (!hasFailed) this.#keepDraft();
        // Removes a message without an answer. If it caused the error, it would also make the next turn fail.
        else if (state.history === asked) rewind(state, this.#before);
      }
    } catch (error) {
      yield signal.aborted ? this.#done("cancelled") : { type: "error", error: toHostError(error) };
    }
  }

  async *#read(input: string | readonly Part[]): Events<readonly Part[]> {
    if (typeof input !== "string") return input;
    if (this.#options.references !== true) return [{ text: input }];
    const { wait, chosen: servers } = this.#state;
    const signal = this.#signal;
    const reading = expandReferences(input, { signal, wait, servers }, this.#host, this.#host.keep);
    const { parts, problems } = await untilAborted(reading, signal);
    for (const { text, error } of problems) yield { type: "note", message: `${text}: ${error.message}` };
    return parts;
  }

  /** Asks the model and runs its calls, until it makes no more calls or a limit is reached. */
  async *#loop(): Events {
    const state = this.#state;
    const signal = this.#signal;
    const limits = { ...(state.model.provider === "manual" ? noLimits : usualLimits), ...state.limits };
    for (let turns = 0; turns < limits.turns; turns += 1) {
      yield* this.#announceArrivals();
      if (turns > 0) yield* compactByRule(state, this.#host, [], signal);
      const answer = yield* this.#askModel();
      const calls = callsIn(answer.content);
      if (calls.length === 0) {
        yield* this.#finish(answer);
        if (this.#isOver) return;
        continue;
      }
      const most = limits.calls - this.#calls;
      const round = new Round(calls, most, state, this.#host, signal, this.#options);
      this.#calls += calls.length;
      this.#text = "";
      // The answer contains the model's calls. It is recorded before they run, so that the record names them even if
      // the process is killed.
      state.record({ type: "content", content: answer.content });
      try {
        yield* round.run();
      } finally {
        // APIs require a response to every call in the history, even if the caller has stopped reading events.
        state.history = [...state.history, answer.content, ...round.end()];
        this.#denied += round.denied;
      }
      if (signal.aborted) throw cancelled();
      if (calls.length > most) break;
    }
    this.#isOver = true;
    yield this.#done("limit");
  }

  /** Sends the request. If the API refuses a tool, removes the tool from the conversation and sends it again. */
  async *#askModel(): Events<Answer> {
    const state = this.#state;
    for (;;) {
      const { model } = state;
      const toolOffer = await state.toolSelection.offerTools(model);
      yield* this.#tellDeferred(toolOffer);
      const outcome = yield* this.#request(toolOffer);
      if (outcome.type === "finish") {
        for (const declaration of toolOffer.declarations) provenFor(model, state).add(declaration.parametersJsonSchema);
        return outcome;
      }
      yield* removeRefused(outcome, toolOffer, state, this.#signal);
    }
  }

  /** Tells the user, once, that the model must search for some of the tools. */
  *#tellDeferred({ deferred, tools }: ToolOffer): Generator<TurnEvent, void, undefined> {
    if (deferred === 0 || this.#state.isDeferralTold) return;
    this.#state.isDeferralTold = true;
    const offered = tools.filter((tool) => tool !== undefined).length;
    const message = `the model gets ${offered} of ${offered + deferred} tools directly and can search for the others (fairlead.toolBudget)`;
    yield { type: "note", message };
  }

  async *#request({ declarations }: ToolOffer): Events<Answer | Extract<ModelEvent, { type: "rejected" }>> {
    const { model, history } = this.#state;
    const system = declarations.length === 0 ? {} : { system: this.#systemText() };
    this.#text = "";
    const stream = model.stream(history, declarations, this.#signal, system);
    for await (const event of streamUntilAborted(stream, this.#signal)) {
      switch (event.type) {
        case "rejected":
        case "finish":
          return event;
        case "call":
          // The content of the `finish` event contains the calls, so a `call` event is ignored.
          break;
        case "text":
          this.#text += event.text;
          yield event;
          break;
        case "thought":
        case "usage":
        case "retry":
          yield event;
      }
    }
    throw new HostError("model", `${model.name} did not complete its answer`, { next: "Try again." });
  }

  #systemText(): string {
    const state = this.#state;
    const servers = state.toolSelection.servers().flatMap((server) => {
      const instructions = this.#host.servers.find(server)?.catalog?.catalog.instructions;
      return instructions === undefined ? [] : [{ server, instructions }];
    });
    state.systemText ??= new SystemText();
    return state.systemText.write(servers, state.toolSelection.offeredSkills);
  }

  /** Ends the turn with an answer that makes no calls, unless the model is asked again. */
  *#finish({ reason, message, content }: Answer): Generator<TurnEvent, void, undefined> {
    const state = this.#state;
    if (reason === "malformed_call" && this.#malformed < mostMalformed) {
      this.#malformed += 1;
      const problem = message ?? "the model wrote an invalid call";
      return yield { type: "note", message: `${problem}; Fairlead asks the model again` };
    }
    if (reason === "malformed_call" || reason === "other")
      throw new HostError("model", message ?? `${state.model.name} ended its answer without a reason`);
    if (message !== undefined && reason !== "stop") yield { type: "note", message };
    // Removes the user's message, because the API would block every later request that contains this message.
    if (reason === "safety" && content.parts.length === 0 && isUnanswered(state.history)) rewind(state, this.#before);
    addContents(state, content);
    this.#text = answerText(content);
    this.#isOver = true;
    yield this.#done(reason);
  }

  /**
   * Keeps the partial answer of a stopped turn. If there is none, adds a text in its place, because the roles in the
   * history must alternate.
   */
  #keepDraft(): void {
    const state = this.#state;
    if (this.#isOver || (this.#text === "" && !isUnanswered(state.history))) return;
    const text = this.#text === "" ? "[Stopped by the user before there was an answer.]" : this.#text;
    addContents(state, { role: "model", parts: [{ text }] });
  }

  #done(reason: DoneReason): TurnEvent {
    return { type: "done", reason, text: this.#text, denied: this.#denied, calls: this.#calls };
  }

  /** Waits for each server once, for a limited time. If a server connects later, its tools are added then. */
  async *#waitForServers(): Events {
    const { servers } = this.#host;
    const { toolSelection, chosen, notTried, awaited, missing, wait } = this.#state;
    const { waitFor } = this.#options;
    const isUnknown = (server: string): boolean => servers.find(server)?.catalog === undefined;
    const all = toolSelection.servers();
    // A typed call may go to any server, unless the user chose servers.
    const wanted = waitFor?.filter((server) => chosen === undefined || all.includes(server)) ?? all;
    const strangers = wanted.filter((server) => isUnknown(server) && !awaited.has(server));
    if (strangers.length === 0) return;
    await untilAborted(servers.recall(strangers), this.#signal);
    for (const server of strangers) awaited.add(server);
    // A server in `waitFor` is started even if it failed in an earlier run, because the user's call names it.
    const skipped = waitFor === undefined ? notTried : [];
    const isTried = (server: string): boolean => !skipped.some((other) => other.server === server);
    const starting = this.#startable(strangers.filter((server) => isUnknown(server) && isTried(server)));
    if (starting.length > 0 && wait > 0) yield { type: "waiting", servers: starting };
    if (starting.length > 0) await this.#startAndWait(starting);
    const absent = strangers.filter(isUnknown);
    for (const server of absent) missing.add(server);
    if (absent.length > 0)
      yield { type: "missing", servers: absent.map((server) => this.#whyMissing(server, skipped)) };
  }

  /** Tells the user about servers that were reported missing and are connected now. */
  *#announceArrivals(): Generator<TurnEvent, void, undefined> {
    const { missing } = this.#state;
    for (const server of missing) {
      if (this.#host.servers.find(server)?.catalog === undefined) continue;
      missing.delete(server);
      yield { type: "note", message: `"${server}" is connected: the model now has its tools` };
    }
  }

  /** Starts the servers, and waits at most `wait` milliseconds until each is connected or has failed. */
  async #startAndWait(servers: readonly string[]): Promise<void> {
    const { servers: started, clock } = this.#host;
    const enough = new AbortController();
    const timeout = sleep(clock, this.#state.wait, enough.signal).catch(() => undefined);
    try {
      await untilAborted(Promise.race([started.start(servers), timeout]), this.#signal);
    } finally {
      enough.abort();
    }
  }

  #startable(servers: readonly string[]): readonly string[] {
    const states = this.#host.servers.states();
    const closed = states.filter(({ status }) => status === "blocked" || status === "disabled").map(({ name }) => name);
    return servers.filter((server) => !closed.includes(server));
  }

  #whyMissing(server: string, skipped: readonly MissingServer[]): MissingServer {
    const reason = skipped.find((other) => other.server === server);
    if (reason !== undefined) return reason;
    const state = this.#host.servers.states().find(({ name }) => name === server);
    if (state === undefined || !("message" in state))
      return { server, message: `"${server}" did not list its tools within ${this.#state.wait / 1000} s` };
    const { message, next } = state;
    return { server, message, next };
  }
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
