/** The client of one server. */

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
import type { OpenedSession } from "../connect/open-session.ts";
import { toServerError } from "../connect/outcome.ts";
import { HostError } from "../errors.ts";
import type { ListName, MCPServerStatus, Peer, ServerState } from "../events.ts";
import type { ConnectionEnd, ConnectionOptions } from "./connection-options.ts";
import type { FilteredCatalog } from "./filtered-catalog.ts";
import { type LiveSession, openLiveSession } from "./live-session.ts";
import { createLogLimit, type LogLimit } from "./log-limit.ts";
import { catalogNews, toNews } from "./news.ts";
import { type Completion, toCompletion } from "./requests.ts";
import { initialServerState, notConnectedError, type ServerChange, toFailure, transition } from "./server-state.ts";

export type { ConnectionEnd, ConnectionOptions } from "./connection-options.ts";
export type { Completion } from "./requests.ts";

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
  readonly #endListeners = new Set<(end: ConnectionEnd) => void>();
  #state: ServerState;
  #opening: { readonly stop: AbortController; readonly over: Promise<unknown> } | undefined;
  #connection: LiveSession | undefined;
  #ending: Promise<void> | undefined;
  /** The last catalog that was read, possibly on an earlier connection. */
  #lastCatalog: FilteredCatalog | undefined;
  #lastError: HostError | undefined;
  #startedAt = 0;
  #readsChanges = false;
  #isStarted = false;

  constructor(options: ConnectionOptions) {
    this.name = options.definition.name;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#logs = createLogLimit(this.name, this.#clock, (news) => options.onNews?.(news));
    this.#state = initialServerState(this.name, { status: "admitted" }, this.#clock.now());
  }

  getStatus(): MCPServerStatus {
    return this.#state.status;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The catalog that `discover` read; undefined while the server is not connected. */
  get filteredCatalog(): FilteredCatalog | undefined {
    return this.#connection?.filteredCatalog();
  }

  /** A random id of the current connection; undefined while the server is not connected. */
  get connectionId(): string | undefined {
    return this.#connection?.id;
  }

  /** Capabilities of the server; empty while it is not connected. */
  get capabilities(): JsonObject {
    return this.#connection?.session.capabilities ?? {};
  }

  /** Sets the catalog of an earlier run, unless the client has a catalog. The next catalog is compared with it. */
  setPreviousCatalog(filteredCatalog: FilteredCatalog): void {
    this.#lastCatalog ??= filteredCatalog;
  }

  /** Reads a list again each time the server reports a change. Applies from the next connection on. */
  followChanges(): void {
    this.#readsChanges = true;
  }

  /**
   * Calls `listener` when a connection fails or ends without `disconnect`. Returns a function that removes the
   * listener.
   */
  onEnd(listener: (end: ConnectionEnd) => void): () => void {
    this.#endListeners.add(listener);
    return () => this.#endListeners.delete(listener);
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
    const connection = this.#connected();
    try {
      const filteredCatalog = await connection.discover(signal);
      if (this.#connection !== connection) throw await this.#endError();
      return filteredCatalog;
    } catch (error) {
      if (this.#connection !== connection) throw await this.#endError();
      // If reading the catalog again fails, the earlier one is still usable, so the connection stays.
      if (connection.filteredCatalog() === undefined && error instanceof HostError && error.code !== "cancelled")
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
    } else if (this.#connection) {
      await this.#end();
    } else {
      await this.#ending;
      this.#move({ type: "disconnect" });
    }
  }

  /** Sets when Fairlead tries again, or that it has given up. Only for a disconnected server. */
  setRetry(change: Extract<ServerChange, { readonly type: "postponed" | "given_up" }>): void {
    this.#move(change);
  }

  /**
   * Returns undefined if the list is as the server last reported it. Otherwise reads it, and resolves when it was read.
   * A request whose decision depends on the list waits for this. Rejects if the list cannot be read.
   */
  upToDate(list: ListName): Promise<void> | undefined {
    return this.#connection?.upToDate(list);
  }

  /** Checks whether the server still responds. If it does not, disconnects it. */
  async check(): Promise<void> {
    await this.#connection?.check();
  }

  callTool(name: string, args: JsonObject, options?: McpRequestOptions): Promise<ToolResult> {
    const params = { name, arguments: args };
    if (this.#connection === undefined) return Promise.reject(notConnectedError(this.#state));
    return this.#connection.requestAs(normaliseToolResult, `${this.name}.${name}`, "tools/call", params, options);
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
    if (this.#connection === undefined) return Promise.reject(notConnectedError(this.#state));
    return this.#connection.request(what, method, params, options);
  }

  /** Whether the server may still ask something about a request that another gateway client has given up. */
  mayAskForOthers(owner: string): boolean {
    return this.#connection?.session.mayAskForOthers?.(owner) === true;
  }

  /** Sends a notification. Does nothing if the server is not connected. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.#connection?.session.notify(method, params);
  }

  async #open(signal: AbortSignal): Promise<void> {
    this.#startedAt = this.#clock.now();
    // Listeners of the state "connecting" run first, because they may cancel the attempt.
    await Promise.resolve();
    try {
      signal.throwIfAborted();
      const onNotification: NotificationListener = (...news) => this.#onNotification(...news);
      const onReopened = (): void => this.#connection?.reopened();
      const session = await this.#options.open({ signal, onNotification, onReopened });
      if (signal.aborted) await session.close();
      signal.throwIfAborted();
      this.#opening = undefined;
      this.#start(session);
    } catch (error) {
      const failure = signal.aborted
        ? new HostError("cancelled", `"${this.name}" was not connected: cancelled`, { serverName: this.name })
        : toServerError(error, { serverName: this.name, what: `"${this.name}"` });
      this.#opening = undefined;
      this.#move({ type: "ended", because: toFailure(failure) });
      if (!signal.aborted) this.#reportEnd(failure, false);
      throw failure;
    }
  }

  #start(session: OpenedSession): void {
    const { definition, connectTimeout: defaultTimeout, observe, onNews, random = Math.random } = this.#options;
    const { connectTimeout = defaultTimeout, signIn } = session;
    const spent = this.#clock.now() - this.#startedAt - (signIn?.total() ?? 0);
    const connection = openLiveSession({
      session,
      serverName: this.name,
      filter: definition,
      timeLeft: Math.max(connectTimeout - spent, 1),
      connectTimeout,
      catalogBytes: this.#options.catalogBytes,
      follow: this.#readsChanges,
      clock: this.#clock,
      random,
      observe,
      onCatalog: (filteredCatalog) => this.#connection === connection && this.#setCatalog(filteredCatalog),
      onNews: (news) => onNews?.(news),
      onUnresponsive: async (error) => {
        if (this.#connection === connection) await this.#end(error);
      },
    });
    this.#connection = connection;
    void session.closed.then((cause) => {
      if (this.#connection === connection) void this.#end(cause && connection.explain(cause));
    });
    this.#move({ type: "opened", peer: toPeer(session) });
  }

  #onNotification(method: string, params: JsonObject): void {
    const news = toNews(this.name, method, params);
    if (news?.type === "log") this.#logs.push(news);
    else if (news) this.#options.onNews?.(news);
    this.#connection?.notified(method);
  }

  #setCatalog(filteredCatalog: FilteredCatalog): void {
    const news = catalogNews(this.name, this.#lastCatalog?.catalog, filteredCatalog.catalog);
    this.#lastCatalog = filteredCatalog;
    this.#move({ type: "discovered", offer: filteredCatalog.offer });
    if (news) this.#options.onNews?.(news);
  }

  #end(because?: HostError): Promise<void> {
    const connection = this.#connection;
    const wasUp = connection?.filteredCatalog() !== undefined;
    this.#connection = undefined;
    this.#lastError = because;
    this.#logs.flush();
    const ended = (): void => {
      this.#move({ type: "ended" });
      if (because) this.#reportEnd(because, wasUp);
    };
    const ending = connection?.close().then(ended, ended) ?? Promise.resolve();
    this.#ending = ending;
    this.#move({ type: "disconnect", ...(because && { because: toFailure(because) }) });
    return ending;
  }

  #reportEnd(error: HostError, wasUp: boolean): void {
    if (!this.#isStarted) return;
    for (const listener of this.#endListeners) listener({ error, startedAt: this.#startedAt, wasUp });
  }

  async #endError(): Promise<HostError> {
    await this.#ending;
    return this.#lastError ?? notConnectedError(this.#state);
  }

  #connected(): LiveSession {
    if (this.#connection) return this.#connection;
    throw notConnectedError(this.#state);
  }

  /** The only place that changes the state. */
  #move(change: ServerChange): void {
    const state = transition(this.#state, change, this.#clock.now());
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onState?.(state);
  }
}

function toPeer({ era, protocolVersion, serverInfo, protocol }: Session): Peer {
  return { era, protocolVersion, serverInfo, ...(protocol && { transport: protocol.transport }) };
}
