/**
 * One connection to a server, for as long as the server is configured: connects, reads the catalog, sends requests,
 * reconnects after a failure, and stops when idle.
 */

import type {
  JsonObject,
  McpRequestOptions,
  NotificationListener,
  PromptResult,
  ResourceResult,
  Session,
  ToolResult,
} from "@fairlead/wire";
import { normalisePromptResult, normaliseResourceResult, normaliseToolResult } from "@fairlead/wire/results";
import { type Clock, systemClock } from "../clock.ts";
import { followAbort } from "../connect/connect-timeout.ts";
import type { OpenedSession, OpenOptions } from "../connect/open-session.ts";
import { toServerError } from "../connect/outcome.ts";
import { retryClassOf } from "../connect/retryable.ts";
import { HostError } from "../errors.ts";
import type { ListName, MCPServerStatus, Peer, ServerNews, ServerState } from "../events.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import type { ConnectionTraces } from "../telemetry/connection-traces.ts";
import { toShellWord } from "../text/shell-word.ts";
import { unlessAborted } from "../unless-aborted.ts";
import type { ListStep } from "./catalog.ts";
import { ConnectionGroup } from "./connection-group.ts";
import type { FilteredCatalog } from "./filtered-catalog.ts";
import { LiveSession } from "./live-session.ts";
import { LogLimit } from "./log-limit.ts";
import { catalogNews, toNews } from "./news.ts";
import { emptyHistory, mostCrashes, planAfter, type RetryHistory, soon } from "./recovery-plan.ts";
import { type Completion, toCompletion } from "./requests.ts";
import { initialServerState, notConnectedError, type ServerChange, toFailure, transition } from "./server-state.ts";

export type { Completion } from "./requests.ts";

/** Options of `Connection`. Times are milliseconds. */
export interface ConnectionOptions {
  readonly definition: Pick<ServerDefinition, "name" | "includeTools" | "excludeTools">;
  /**
   * Opens a session. On failure, must close everything that it has opened, then reject. `signal` cancels only the
   * opening, not an open session.
   */
  readonly open: (options: OpenOptions) => Promise<OpenedSession>;
  /**
   * Milliseconds that `connect` and the first `discover` may take together. The session's own `connectTimeout` takes
   * precedence.
   */
  readonly connectTimeout: number;
  /** Returns the largest size of the catalog, in bytes of JSON. Default: 64 MB. */
  readonly catalogBytes?: () => number;
  readonly onState?: (state: ServerState) => void;
  readonly onNews?: (news: ServerNews) => void;
  readonly observe?: (step: ListStep) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** How a connection lives among the others of its host. */
export interface ConnectionLife {
  /** The connections beside this one. Default: a group of its own. */
  readonly group?: ConnectionGroup;
  /** Whether the server is a stdio program. Default: false. */
  readonly isProgram?: boolean;
  /** Whether to reconnect after a failure. Default: false. */
  readonly recover?: boolean;
  /** Whether to read changed lists again. Default: as `recover`. */
  readonly follow?: boolean;
  /** Milliseconds without a request after which the server is stopped; undefined if it is never stopped. */
  readonly idleAfter?: () => number | undefined;
  /** Makes the spans of the connection and of its requests. Default: it makes none. */
  readonly traces?: () => ConnectionTraces | undefined;
}

interface Attempt {
  readonly stop: AbortController;
  readonly done: Promise<Connection>;
}

/**
 * Connects to one server, reads its catalog, sends requests and disconnects.
 *
 * @throws HostError from its methods. If the server is not connected, the message contains its status or the reason.
 */
export class Connection {
  readonly name: string;
  readonly #options: ConnectionOptions;
  readonly #clock: Clock;
  readonly #logs: LogLimit;
  #life: ConnectionLife;
  #group: ConnectionGroup;
  #state: ServerState;
  #live: LiveSession | undefined;
  /** Connecting and reading the catalog. Concurrent callers of `start` share one attempt. */
  #attempt: Attempt | undefined;
  readonly #stateListeners = new Set<(state: ServerState) => void>();
  #traces: ConnectionTraces | undefined;
  #opening: { readonly stop: AbortController; readonly over: Promise<unknown> } | undefined;
  /** The session that is being closed. */
  #ending: Promise<void> | undefined;
  /** Set while `stop` runs, or while `startAfter` waits. The next attempt waits for it. */
  #stopping: Promise<void> | undefined;
  /** Identifies the latest restart that is under way. Callers of `ready` wait for its new session. */
  #restart: object | undefined;
  #isRestarted = false;
  /** The last catalog that was read, possibly on an earlier session. */
  #lastCatalog: FilteredCatalog | undefined;
  /** Whether the registries show the last catalog. False for one of an earlier run that has expired. */
  #isLastShown = true;
  #lastPeer: Peer | undefined;
  #lastError: HostError | undefined;
  #startedAt = 0;
  #isStarted = false;
  #isClosed = false;
  #successor: Connection | undefined;
  #history: RetryHistory = emptyHistory;
  #cancelRetry: () => void = () => {};
  /** Requests that use the connection now, and when the last one ended. */
  #uses = 0;
  #idleSince = 0;
  #cancelIdleStop: (() => void) | undefined;

  constructor(options: ConnectionOptions, life: ConnectionLife = {}) {
    this.name = options.definition.name;
    this.#options = options;
    this.#life = life;
    this.#clock = options.clock ?? systemClock;
    this.#group = life.group ?? new ConnectionGroup({ clock: this.#clock });
    this.#logs = new LogLimit(this.name, this.#clock, (news) => options.onNews?.(news));
    this.#state = initialServerState(this.name, { status: "admitted" }, this.#clock.now());
    this.#group.add(this);
  }

  /** Joins other connections. Only before the first `start`. */
  join(life: ConnectionLife & { readonly group: ConnectionGroup }): void {
    this.#group.remove(this);
    this.#life = { ...this.#life, ...life };
    this.#group = life.group;
    this.#group.add(this);
  }

  /**
   * Connects if needed, reads the catalog, and returns the connection. Concurrent callers share one attempt. Rejects with
   * a `HostError` if the server cannot be connected.
   */
  async ready(signal?: AbortSignal): Promise<this> {
    const { status } = this.#state;
    // The caller may be a model. Only a person may restart a server that failed too often or sent too much.
    if (status === "disconnected" && (this.#state.reason === "start_limit" || this.#state.reason === "flooding"))
      throw notConnectedError(this.#state);
    await unlessAborted(this.#startUntilSettled(), signal, () => cancelled(this.name));
    return this;
  }

  /** Whether the server is connected and its catalog was read, and nothing is stopping it. */
  get isReady(): boolean {
    return this.#live?.filteredCatalog !== undefined && this.#stopping === undefined;
  }

  /** The connection itself if `isReady`, so that a caller need not wait for `ready`. */
  get connected(): this | undefined {
    return this.isReady ? this : undefined;
  }

  /** Connects and reads the catalog, unless that is done. Rejects if it fails or is stopped meanwhile. */
  start(): Promise<Connection> {
    if (this.isReady) return Promise.resolve(this);
    if (this.#attempt) return this.#attempt.done;
    if (this.#isClosed || this.#group.isClosed) return Promise.reject(cancelled(this.name));
    if (this.#life.recover === true) this.#group.watchForSleep();
    this.#cancelRetry();
    const stop = new AbortController();
    const connect = (): Promise<this> => this.#connectAndDiscover(stop.signal);
    const { traces } = this;
    const done = (traces ? traces.connecting(connect) : connect()).finally(() => {
      if (this.#attempt?.stop === stop) this.#attempt = undefined;
    });
    this.#attempt = { stop, done };
    return done;
  }

  /** Makes the next attempt wait: a program with an earlier definition must have ended before this one starts. */
  startAfter(ended: Promise<unknown>): void {
    const waiting = Promise.allSettled([ended]).then(() => {
      if (this.#stopping === waiting) this.#stopping = undefined;
    });
    this.#stopping = waiting;
  }

  /** Makes the spans of the connection. Undefined if none are collected. */
  get traces(): ConnectionTraces | undefined {
    this.#traces ??= this.#life.traces?.();
    return this.#traces;
  }

  /** Starts the server because a person wants it: earlier failures no longer count. */
  startAnew(): Promise<Connection> {
    this.#history = emptyHistory;
    return this.start();
  }

  /** Starts the server for a gateway client. This counts as a use: without a request, the server is stopped when idle. */
  startForClient(): Promise<Connection> {
    const release = this.use();
    return this.startAnew().finally(release);
  }

  /** Cancels a running attempt and disconnects. The next attempt waits until this is done. */
  stop(): Promise<void> {
    this.#restart = undefined;
    const attempt = this.#attempt;
    this.#attempt = undefined;
    attempt?.stop.abort(cancelled(this.name));
    const stopping = Promise.allSettled([attempt?.done, this.#stopping])
      .then(() => this.disconnect())
      .finally(() => {
        this.#cancelRetry();
        if (this.#stopping === stopping) this.#stopping = undefined;
      });
    this.#stopping = stopping;
    return stopping;
  }

  /**
   * Disconnects, and returns a function that connects again unless the server was stopped meanwhile. Between the two,
   * callers of `ready` wait for the new session.
   */
  async stopForRestart(): Promise<() => Promise<void>> {
    const restart = {};
    this.#isRestarted = true;
    const stopped = this.stop();
    this.#restart = restart;
    await stopped;
    return async () => {
      if (this.#restart !== undefined) await Promise.allSettled([this.startAnew()]);
      if (this.#restart === restart) this.#restart = undefined;
    };
  }

  /** Whether the user has restarted the server: a new process is wanted, not one that runs in the background host. */
  get isRestarted(): boolean {
    return this.#isRestarted;
  }

  /** Stops for good: the server was removed, or its definition replaced. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#group.remove(this);
    this.#cancelRetry();
    this.#cancelIdleStop?.();
    await this.stop();
  }

  /** Names the connection that replaces this closed one, because the definition of its server has changed. */
  setSuccessor(successor: Connection): void {
    this.#successor = successor;
  }

  /** This connection, or the one that has replaced it. */
  get latest(): Connection {
    return this.#successor?.latest ?? this;
  }

  /** Calls `listener` with each new state. Returns a function that ends this. */
  onState(listener: (state: ServerState) => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  /** Whether a request or a command uses the connection now. */
  get isUsed(): boolean {
    return this.#uses > 0;
  }

  /** Keeps the server running. It may be stopped as idle after the returned function is called. */
  use(): () => void {
    this.#uses += 1;
    return () => {
      this.#uses -= 1;
      const milliseconds = this.#life.idleAfter?.();
      // A request may end while the host is being closed. It must not start a timer.
      if (this.#uses > 0 || milliseconds === undefined || this.#isClosed || this.#group.isClosed) return;
      this.#idleSince = this.#clock.now();
      if (this.#cancelIdleStop === undefined) this.#stopWhenIdle(milliseconds, milliseconds);
    };
  }

  #stopWhenIdle(after: number, milliseconds: number): void {
    const ring = (): void => {
      this.#cancelIdleStop = undefined;
      // The server is in use. When its last request ends, a new timer starts.
      if (this.#uses > 0 || this.#isClosed || this.#group.isClosed) return;
      const left = this.#idleSince + milliseconds - this.#clock.now();
      if (left > 0) this.#stopWhenIdle(left, milliseconds);
      else void this.stop();
    };
    this.#cancelIdleStop = this.#clock.after(after, ring, { background: true });
  }

  /** Connects. If a restart cancels the attempt, tries again. */
  async #startUntilSettled(): Promise<void> {
    for (;;) {
      try {
        await this.start();
        return;
      } catch (error) {
        const isCancelled = error instanceof HostError && error.code === "cancelled";
        if (!isCancelled || this.#restart === undefined) throw error;
      }
    }
  }

  async #connectAndDiscover(signal: AbortSignal): Promise<this> {
    await this.#stopping;
    signal.throwIfAborted();
    const leave = this.#life.isProgram === true ? await this.#group.startLimit.acquire(signal) : undefined;
    try {
      // The user may have signed in meanwhile, so a server in the state `needs_auth` is disconnected first too.
      if (this.#state.status !== "disconnected") await this.disconnect();
      await this.connect(signal);
      await this.discover(signal);
      return this;
    } finally {
      leave?.();
    }
  }

  /** Plans the next attempt after a connection failed, or ended without `disconnect`. */
  #recover(error: HostError, wasUp: boolean): void {
    if (!this.#isStarted || this.#life.recover !== true || this.#isClosed) return;
    const { isProgram = false } = this.#life;
    const endedAt = this.#clock.now();
    const end = { retry: retryClassOf(error, { isProgram }), lasted: endedAt - this.#startedAt, wasUp };
    const { random = Math.random } = this.#options;
    const { plan, history } = planAfter(this.#history, end, { random, now: this.#group.now });
    this.#history = history;
    switch (plan.kind) {
      case "stay":
        return;
      case "try_at_once":
        return void this.#reconnect();
      case "wait": {
        const { milliseconds } = plan;
        this.#move({ type: "postponed", because: toFailure(error), nextTryAt: endedAt + milliseconds });
        const reconnectIfWaiting = (): void => {
          if ("nextTryAt" in this.#state) void this.#reconnect();
        };
        this.#cancelRetry = this.#clock.after(milliseconds, reconnectIfWaiting, { background: true });
        return;
      }
      case "give_up":
        this.#move({ type: "given_up", because: toFailure(startLimitError(this.name, error)) });
    }
  }

  /** Reconnects after a running attempt has ended, unless the server was stopped. */
  async #reconnect(): Promise<void> {
    await Promise.allSettled([this.#attempt?.done]);
    if (!this.#isClosed && this.#stopping === undefined) await Promise.allSettled([this.start()]);
  }

  getStatus(): MCPServerStatus {
    return this.#state.status;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The catalog that `discover` read; undefined while the server is not connected. */
  get filteredCatalog(): FilteredCatalog | undefined {
    return this.#live?.filteredCatalog;
  }

  /** A random id of the open session; undefined while the server is not connected. Each process has its own. */
  get connectionId(): string | undefined {
    return this.#live?.id;
  }

  /** The server and the negotiated protocol of the open session, or of the last one. */
  get peer(): Peer | undefined {
    return this.#state.status === "connected" ? this.#state.peer : this.#lastPeer;
  }

  /** Capabilities of the server; empty while it is not connected. */
  get capabilities(): JsonObject {
    return this.#live?.session.capabilities ?? {};
  }

  /**
   * Sets the catalog of an earlier run, unless the connection has had one. The next catalog is compared with it.
   *
   * @param isShown Whether the registries show it. If not, the next catalog is news even if it is the same.
   */
  setPreviousCatalog(filteredCatalog: FilteredCatalog, isShown = true): void {
    if (this.#lastCatalog !== undefined) return;
    this.#lastCatalog = filteredCatalog;
    this.#isLastShown = isShown;
  }

  async connect(signal?: AbortSignal): Promise<void> {
    const { status } = this.#state;
    if (status !== "disconnected")
      throw new HostError("usage", `"${this.name}" is ${status}; it can be connected only while it is disconnected`, {
        serverName: this.name,
      });
    const stop = new AbortController();
    this.#isStarted = true;
    const opening = this.#open(stop.signal).finally(followAbort(stop, signal));
    this.#opening = { stop, over: Promise.allSettled([opening]) };
    this.#move({ type: "connect" });
    await opening;
  }

  /** Reads the catalog. Disconnects the server if its first catalog cannot be read or has nothing usable. */
  async discover(signal?: AbortSignal): Promise<FilteredCatalog> {
    const live = this.#connected();
    try {
      const filteredCatalog = await live.discover(signal);
      if (this.#live !== live) throw await this.#endError();
      return filteredCatalog;
    } catch (error) {
      if (this.#live !== live) throw await this.#endError();
      // If reading the catalog again fails, the earlier one is still usable, so the connection stays.
      if (live.filteredCatalog === undefined && error instanceof HostError && error.code !== "cancelled")
        await this.#end(error);
      throw error;
    }
  }

  /** Cancels connecting or closes the connection. Resolves when everything is closed. */
  async disconnect(): Promise<void> {
    this.#isStarted = false;
    if (this.#opening) {
      const { stop, over } = this.#opening;
      this.#move({ type: "disconnect" });
      stop.abort();
      await over;
    } else if (this.#live) {
      await this.#end();
    } else {
      await this.#ending;
      this.#move({ type: "disconnect" });
    }
  }

  /**
   * Returns undefined if the list is as the server last reported it. Otherwise reads it, and resolves when it was read.
   * A request whose decision depends on the list waits for this. Rejects if the list cannot be read.
   */
  upToDate(list: ListName): Promise<void> | undefined {
    return this.#live?.upToDate(list);
  }

  /** Reads a list again that another program's connection has reported as changed. */
  listChanged(list: ListName): void {
    this.#live?.listChanged(list);
  }

  /** Checks whether the server still responds. If it does not, disconnects it. */
  async check(): Promise<void> {
    await this.#live?.check();
  }

  callTool(name: string, args: JsonObject, options?: McpRequestOptions): Promise<ToolResult> {
    const live = this.#live;
    if (live === undefined) return Promise.reject(notConnectedError(this.#state));
    const sent = live.session.request("tools/call", { name, arguments: args }, options);
    return live.follow(sent, normaliseToolResult, `${this.name}.${name}`, "tools/call");
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    options?: McpRequestOptions,
  ): Promise<PromptResult> {
    const what = `prompt ${name} of ${this.name}`;
    return normalisePromptResult(await this.request(what, "prompts/get", { name, arguments: args }, options));
  }

  async readResource(uri: string, options?: McpRequestOptions): Promise<ResourceResult> {
    const answer = await this.request(`${uri} of ${this.name}`, "resources/read", { uri }, options);
    return normaliseResourceResult(answer, uri);
  }

  /** Returns suggested values for an argument. `params` are those of `completion/complete`. */
  async complete(params: JsonObject, options?: McpRequestOptions): Promise<Completion> {
    const answer = await this.request(`completion of ${this.name}`, "completion/complete", params, options);
    return toCompletion(answer["completion"]);
  }

  /** Sends any MCP request. `what` is its name in error messages, such as `demo.greet`. */
  request(what: string, method: string, params: JsonObject, options?: McpRequestOptions): Promise<JsonObject> {
    const live = this.#live;
    if (live === undefined) return Promise.reject(notConnectedError(this.#state));
    return live.follow(live.session.request(method, params, options), (answer) => answer, what, method);
  }

  /** Whether the server may still ask something about a request that another gateway client has given up. */
  mayAskForOthers(owner: string): boolean {
    return this.#live?.session.mayAskForOthers?.(owner) === true;
  }

  /** Sends a notification. Does nothing if the server is not connected. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.#live?.session.notify(method, params);
  }

  async #open(signal: AbortSignal): Promise<void> {
    this.#startedAt = this.#clock.now();
    // Listeners of the state "connecting" run first, because they may cancel the attempt.
    await Promise.resolve();
    try {
      signal.throwIfAborted();
      const onNotification: NotificationListener = (...news) => this.#onNotification(...news);
      const onReopened = (): void => this.#live?.reopened();
      const session = await this.#options.open({ signal, onNotification, onReopened });
      if (signal.aborted) await session.close();
      signal.throwIfAborted();
      this.#opening = undefined;
      this.#start(session);
    } catch (error) {
      const failure = signal.aborted
        ? cancelled(this.name)
        : toServerError(error, { serverName: this.name, what: `"${this.name}"` });
      this.#opening = undefined;
      this.#move({ type: "ended", because: toFailure(failure) });
      if (!signal.aborted) this.#recover(failure, false);
      throw failure;
    }
  }

  #start(session: OpenedSession): void {
    const { definition, connectTimeout: defaultTimeout, observe, onNews, random = Math.random } = this.#options;
    const { connectTimeout = defaultTimeout, timeoutClock } = session;
    const spent = this.#clock.now() - this.#startedAt - (timeoutClock?.pausedFor ?? 0);
    const live: LiveSession = new LiveSession({
      session,
      serverName: this.name,
      filter: definition,
      timeLeft: Math.max(connectTimeout - spent, 1),
      connectTimeout,
      catalogBytes: this.#options.catalogBytes,
      follow: this.#life.follow === true || this.#life.recover === true,
      clock: this.#clock,
      random,
      observe,
      traces: () => this.traces,
      onCatalog: (filteredCatalog) => this.#live === live && this.#setCatalog(filteredCatalog),
      onNews: (news) => onNews?.(news),
      onUnresponsive: async (error) => {
        if (this.#live === live) await this.#end(error);
      },
    });
    this.#live = live;
    void session.closed.then((cause) => {
      if (this.#live === live) void this.#end(cause && live.explain(cause));
    });
    this.#lastPeer = toPeer(session);
    this.#move({ type: "opened", peer: this.#lastPeer });
  }

  #onNotification(method: string, params: JsonObject): void {
    const news = toNews(this.name, method, params);
    if (news?.type === "log") this.#logs.push(news);
    else if (news) this.#options.onNews?.(news);
    this.#live?.notified(method);
  }

  #setCatalog(filteredCatalog: FilteredCatalog): void {
    const news = catalogNews(this.name, this.#lastCatalog?.catalog, filteredCatalog.catalog, this.#isLastShown);
    this.#lastCatalog = filteredCatalog;
    this.#isLastShown = true;
    this.#move({ type: "discovered", offer: filteredCatalog.offer });
    if (news) this.#options.onNews?.(news);
  }

  #end(because?: HostError): Promise<void> {
    const live = this.#live;
    const wasUp = live?.filteredCatalog !== undefined;
    this.#live = undefined;
    this.#lastError = because;
    this.#logs.flush();
    const ended = (): void => {
      this.#move({ type: "ended" });
      if (because) this.#recover(because, wasUp);
    };
    const ending = live?.close().then(ended, ended) ?? Promise.resolve();
    this.#ending = ending;
    this.#move({ type: "disconnect", because: because && toFailure(because) });
    return ending;
  }

  async #endError(): Promise<HostError> {
    await this.#ending;
    return this.#lastError ?? notConnectedError(this.#state);
  }

  #connected(): LiveSession {
    if (this.#live) return this.#live;
    throw notConnectedError(this.#state);
  }

  /** The only place that changes the state. */
  #move(change: ServerChange): void {
    const state = transition(this.#state, change, this.#clock.now());
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onState?.(state);
    for (const listener of this.#stateListeners) listener(state);
  }
}

function toPeer({ era, protocolVersion, serverInfo, protocol }: Session): Peer {
  return { era, protocolVersion, serverInfo, transport: protocol?.transport };
}

function cancelled(serverName: string): HostError {
  return new HostError("cancelled", `"${serverName}" was not connected: cancelled`, { serverName });
}

function startLimitError(serverName: string, last: HostError): HostError {
  const message = `"${serverName}" failed ${mostCrashes} times within ${soon / 1000} s of its start; last failure: ${last.message}`;
  const { evidence } = last;
  return new HostError("start_limit", message, {
    serverName,
    cause: last,
    next: `fairlead mcp test ${toShellWord(serverName)}`,
    evidence,
  });
}
