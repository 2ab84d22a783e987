/** The state of one host, as a console shows it. Each subject has a file of its own; this one joins them. */

import { type Clock, systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import type { OpenedHost } from "@fairlead/core/host";
import { Inbox } from "@fairlead/gateway/consent/inbox";
import { excerpt } from "@fairlead/wire/json";
import { clip, errorMessage } from "@fairlead/wire/text";
import type { Commands, Params, Result, Verb } from "../../protocol/commands.ts";
import type { About, ConsoleEvent, Snapshot } from "../../protocol/events.ts";
import type { ConsoleSource, RunOptions } from "../console-source.ts";
import { Views } from "../views/views.ts";
import { Adding, type ServerAdding } from "./adding.ts";
import { budgetCommands } from "./budget.ts";
import { Calls } from "./calls.ts";
import { changesCommands } from "./changes.ts";
import { Chats, type FindModel } from "./chat.ts";
import { conversationCommands } from "./conversations.ts";
import { countHistory, historyCommands } from "./history.ts";
import { InboxQuestions } from "./inbox-questions.ts";
import { masked } from "./masked.ts";
import { type Handlers, runCommand } from "./parameters.ts";
import { policyCommands } from "./policy.ts";
import { PolicyWatch } from "./policy-watch.ts";
import { questionCommands } from "./question-commands.ts";
import { Questions } from "./questions.ts";
import { serverCommands } from "./server-commands.ts";
import { askInConsole } from "./server-questions.ts";
import { ServerRows } from "./server-rows.ts";
import { ServerUsage } from "./server-usage.ts";
import { skillCommands } from "./skills.ts";
import { toolCommands } from "./tools.ts";
import { Traffic, type TrafficLimits } from "./traffic.ts";

/** Longer lines of a server's log are cut in the stream. The log file has them whole. */
const longestLine = 4000;

/** The host that a console shows. */
export interface ConsoleStateOptions {
  readonly host: OpenedHost;
  /** Fairlead's version. */
  readonly version: string;
  /** Finds the model of conversations in the console. Default: there is none. */
  readonly findModel?: FindModel;
  /** Adds servers of registries. Default: the console cannot. */
  readonly adding?: ServerAdding;
  /** Default: the inbox in the host's state folder. */
  readonly inbox?: Inbox;
  /** How much of the traffic is kept. */
  readonly traffic?: TrafficLimits;
  readonly clock?: Clock;
  /** The current time, in milliseconds since 1970. */
  readonly now?: () => number;
}

/** One host, as rows, events and commands. Everything that leaves it has no secrets. */
export class ConsoleState implements ConsoleSource {
  readonly #host: OpenedHost;
  readonly #options: ConsoleStateOptions;
  readonly #now: () => number;
  readonly #listeners = new Set<(event: ConsoleEvent) => void>();
  readonly #usage = new ServerUsage();
  readonly #questions: Questions;
  readonly #inbox: InboxQuestions;
  readonly #calls: Calls;
  readonly #rows: ServerRows;
  readonly #traffic: Traffic;
  readonly #chats: Chats;
  readonly #policyWatch: PolicyWatch;
  readonly #views: Views;
  readonly #adding: Adding;
  readonly #handlers: Handlers<Commands>;
  readonly #stops: readonly (() => void)[];
  /** Resolves when the history and the inbox are read. */
  readonly #ready: Promise<void>;

  /** The host must stay open as long as the state. */
  constructor(options: ConsoleStateOptions) {
    const { host, clock = systemClock, now = Date.now } = options;
    const emit = (event: ConsoleEvent): void => this.#emit(event);
    const note = (text: string): void => emit({ type: "note", text });
    const onPolicy = (): void => emit({ type: "policy" });
    const fail = (error: unknown): void => note(errorMessage(error));
    this.#host = host;
    this.#options = options;
    this.#now = now;
    this.#questions = new Questions({ emit, now });
    this.#inbox = new InboxQuestions({
      inbox: options.inbox ?? new Inbox(host.configuration.locations.state),
      emit,
      fail,
    });
    this.#rows = new ServerRows({ host, usage: this.#usage, clock, now, emit });
    this.#calls = new Calls({
      host,
      questions: this.#questions,
      clock,
      now,
      emit,
      onEnded: ({ server, startedAt, endedAt = startedAt }, outcome) => {
        this.#usage.add({ server, outcome: outcome as "ok", durationMs: endedAt - startedAt }, endedAt);
        this.#rows.touch(server);
      },
    });
    this.#traffic = new Traffic({
      host,
      clock,
      now,
      emit,
      callOf: (signal) => this.#calls.callOf(signal),
      onProgress: (call, progress) => this.#calls.progress(call, progress),
      ...(options.traffic && { limits: options.traffic }),
    });
    this.#views = new Views({ host, calls: this.#calls, clock, emit, onAllowed: onPolicy });
    this.#chats = new Chats({
      host,
      findModel: options.findModel,
      emit,
      nameRow: (signal) => this.#calls.nameRow(signal),
      linkQuestion: (question, row) => this.#inbox.link(question, row),
      onModel: this.#tellAbout,
    });
    this.#policyWatch = new PolicyWatch({
      host,
      clock,
      onChanged: () => {
        onPolicy();
        // The problems of policy files.
        this.#tellAbout();
      },
    });
    this.#adding = new Adding(options.adding);
    this.#handlers = {
      ...this.#adding.handlers,
      ...this.#calls.handlers,
      ...historyCommands(host),
      ...questionCommands(this.#questions, this.#inbox, onPolicy),
      ...serverCommands({ host, rows: this.#rows, questions: this.#questions, note, fail }),
      ...toolCommands(host),
      ...policyCommands(host, onPolicy),
      ...changesCommands(host),
      ...budgetCommands(host),
      ...skillCommands(host, onPolicy),
      ...conversationCommands(host),
      ...this.#chats.handlers,
      ...this.#traffic.handlers,
      ...this.#views.handlers,
    };
    this.#stops = [
      askInConsole({
        host,
        questions: this.#questions,
        clock,
        callsOn: (server) => this.#calls.runningOn(server),
        note,
      }),
      host.on("stderr", ({ server, line }) => emit({ type: "log", server, at: now(), line: clip(line, longestLine) })),
      host.on("catalog", ({ server }) => emit({ type: "catalog", server })),
      host.on("servers", () => {
        this.#usage.keepOnly(host.gateway.servers.names());
        this.#tellAbout();
      }),
      host.on("ide_trust_changed", this.#tellAbout),
      host.on("log", ({ server, level, logger, data }) => {
        const text = typeof data === "string" ? data : excerpt(data, longestLine);
        const line = clip(`${level}${logger === undefined ? "" : ` ${logger}`}: ${text}`, longestLine);
        emit({ type: "log", server, at: now(), line });
      }),
      host.on("settings_unread", ({ message }) => emit({ type: "note", text: message })),
      host.on("history_failed", ({ message }) =>
        emit({ type: "note", text: `not recorded in the history: ${message}` }),
      ),
    ];
    this.#ready = this.#start();
    // A command reports the error. Nothing may be unhandled until then.
    this.#ready.catch(() => undefined);
  }

  async snapshot(): Promise<Snapshot> {
    await this.#ready;
    return this.#masked<Snapshot>({
      ...(await this.#about()),
      now: this.#now(),
      servers: this.#rows.all(),
      questions: [...this.#inbox.open(), ...this.#questions.open()].sort((one, other) => one.since - other.since),
      calls: this.#calls.latest(),
    });
  }

  async run<V extends Verb>(
    verb: V,
    params: Readonly<Record<keyof Params<V>, unknown>>,
    options: RunOptions,
  ): Promise<Result<V>> {
    const handler = Object.hasOwn(this.#handlers, verb) ? this.#handlers[verb] : undefined;
    if (handler === undefined)
      throw new HostError("usage", `there is no command ${JSON.stringify(String(verb).slice(0, 100))}`);
    await this.#ready;
    const result = await runCommand<Params<V>, Result<V>>(verb, handler, params, options).catch((error: unknown) => {
      throw this.#maskedError(error);
    });
    return handler.isHidden === true ? result : this.#masked(result);
  }

  onEvent(listener: (event: ConsoleEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.#ready;
    this.#rows[Symbol.dispose]();
    this.#views[Symbol.dispose]();
    this.#adding[Symbol.dispose]();
    this.#calls[Symbol.dispose]();
    this.#traffic[Symbol.dispose]();
    this.#policyWatch[Symbol.dispose]();
    this.#questions[Symbol.dispose]();
    await this.#chats[Symbol.asyncDispose]();
    await this.#inbox[Symbol.asyncDispose]();
  }

  async #start(): Promise<void> {
    await this.#policyWatch.start();
    // The history is no reason not to open a console.
    await countHistory(this.#host, this.#usage, this.#now()).catch(() => undefined);
    await this.#inbox.start();
    void this.#rows.countTokens();
  }

  async #about(): Promise<About> {
    const { trust, locations } = this.#host.configuration;
    const { problems } = await this.#host.policy();
    return {
      version: this.#options.version,
      workspace: { root: locations.root, isTrusted: trust.trusted, why: trust.detail },
      model: this.#chats.model,
      problems: [...this.#host.problems(), ...problems].map(({ message }) => message),
    };
  }

  readonly #tellAbout = (): void => {
    this.#about().then(
      (about) => this.#emit({ type: "about", about }),
      // The host is closing.
      () => {},
    );
  };

  #emit(event: ConsoleEvent): void {
    if (this.#listeners.size === 0) return;
    const shown = this.#masked(event);
    for (const listener of this.#listeners) listener(shown);
  }

  #maskedError(error: unknown): HostError {
    const { hide } = this.#host;
    if (!(error instanceof HostError)) return new HostError("internal", hide(errorMessage(error)), { cause: error });
    const { code, message, next, evidence, serverName } = error;
    const shown = { serverName, next: next && hide(next), evidence: evidence && hide(evidence), cause: error };
    return new HostError(code, hide(message), shown);
  }

  #masked<T>(value: T): T {
    return masked(value, this.#host.hide);
  }
}
