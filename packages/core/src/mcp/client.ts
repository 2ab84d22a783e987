/** One server's connection: opens it, reads what it offers, passes single requests on, and ends it. */

import type {
  JsonObject,
  McpRequestOptions,
  NotificationListener,
  PromptResult,
  ResourceResult,
  Session,
  ToolResult,
} from "@fairlead/wire";
import { type Clock, systemClock } from "../clock.ts";
import type { OpenedSession, OpenOptions } from "../connect/open-session.ts";
import { toServerError } from "../connect/outcome.ts";
import type { ListStep } from "../discover/catalog.ts";
import { HostError } from "../errors.ts";
import type { MCPServerStatus, Peer, ServerNews, ServerState } from "../events.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import { catalogNews } from "./catalog-news.ts";
import { type Completion, toCompletion } from "./completion.ts";
import { type Connection, createConnection } from "./connection.ts";
import type { FilteredCatalog } from "./filtered-catalog.ts";
import { toNews } from "./news.ts";
import { initialServerState, notConnectedError, type ServerChange, toFailure, transition } from "./server-state.ts";

export type { Completion } from "./completion.ts";

/** Options of `McpClient`. Times are milliseconds. */
export interface McpClientOptions {
  readonly definition: Pick<ServerDefinition, "name" | "includeTools" | "excludeTools">;
  /** Rejects only when nothing of the attempt is left; the signal has nothing to say once there is a session. */
  readonly open: (options: OpenOptions) => Promise<OpenedSession>;
  /** How long `connect` and the first `discover` may take together, in milliseconds, unless the session says otherwise. */
  readonly connectTimeout: number;
  readonly onState?: (state: ServerState) => void;
  readonly onNews?: (news: ServerNews) => void;
  readonly observe?: (step: ListStep) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** An end that nobody wanted. */
export interface ClientEnd {
  readonly error: HostError;
  /** When connecting began, by the client's clock. */
  readonly startedAt: number;
  /** Its lists had been read. */
  readonly wasUp: boolean;
}

/**
 * The client of one server: connects, reads its catalog, sends single requests and disconnects.
 *
 * @throws HostError from its methods: with the status and the reason when the server is not connected
 */
export class McpClient {
  readonly name: string;
  readonly #options: McpClientOptions;
  readonly #clock: Clock;
  readonly #endListeners = new Set<(end: ClientEnd) => void>();
  #state: ServerState;
  #opening: { readonly stop: AbortController; readonly over: Promise<unknown> } | undefined;
  #connection: Connection | undefined;
  #ending: Promise<void> | undefined;
  /** What was offered last, here or in an earlier connection. */
  #known: FilteredCatalog | undefined;
  #lastError: HostError | undefined;
  #startedAt = 0;
  #follows = false;
  #isWanted = false;

  constructor(options: McpClientOptions) {
    this.name = options.definition.name;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#state = initialServerState(this.name, { status: "admitted" }, this.#clock.now());
  }

  getStatus(): MCPServerStatus {
    return this.#state.status;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The catalog that `discover` read, while the server is connected. */
  get filteredCatalog(): FilteredCatalog | undefined {
    return this.#connection?.filteredCatalog();
  }

  /** @deprecated Use `filteredCatalog`. */
  get offering(): FilteredCatalog | undefined {
    return this.filteredCatalog;
  }

  /** What the server says that it can do, while it is connected. */
  get capabilities(): JsonObject {
    return this.#connection?.session.capabilities ?? {};
  }

  /** What it offered in an earlier run: what it offers next is compared with that. */
  remember(filteredCatalog: FilteredCatalog): void {
    this.#known ??= filteredCatalog;
  }

  /** From the next connection on, lists are read again when the server says that they changed. */
  follow(): void {
    this.#follows = true;
  }

  /** Told of every end that nobody wanted, once nothing of the connection is left. Returns the function that stops listening. */
  onEnd(listener: (end: ClientEnd) => void): () => void {
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
    this.#isWanted = true;
    const opening = this.#open(signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]));
    this.#opening = { stop, over: Promise.allSettled([opening]) };
    this.#move({ type: "connect" });
    await opening;
  }

  /** Reads what the server offers. One that does not tell in time, or has nothing to offer, is disconnected. */
  async discover(signal?: AbortSignal): Promise<FilteredCatalog> {
    const connection = this.#connected();
    try {
      const filteredCatalog = await connection.discover(signal);
      // Gone between its last answer and now.
      if (this.#connection !== connection) throw await this.#lost();
      return filteredCatalog;
    } catch (error) {
      if (this.#connection !== connection) throw await this.#lost();
      // A list that was read once and cannot be read again is no reason to end a connection.
      if (connection.filteredCatalog() === undefined && error instanceof HostError && error.code !== "cancelled")
        await this.#end(error);
      throw error;
    }
  }

  /** Resolves when nothing of the connection is left, whatever it was in the middle of. */
  async disconnect(): Promise<void> {
    this.#isWanted = false;
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

  /** Says what will become of it after an end; while it is anything but disconnected that means nothing. */
  rest(change: Extract<ServerChange, { readonly type: "postponed" | "given_up" }>): void {
    this.#move(change);
  }

  /** Makes sure that the server still answers; one that does not is disconnected. */
  async check(): Promise<void> {
    await this.#connection?.check();
  }

  async callTool(name: string, args: JsonObject, options?: McpRequestOptions): Promise<ToolResult> {
    const answer = await this.request(`${this.name}.${name}`, "tools/call", { name, arguments: args }, options);
    const { normaliseToolResult } = await import("@fairlead/wire");
    return normaliseToolResult(answer);
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    options?: McpRequestOptions,
  ): Promise<PromptResult> {
    const what = `prompt ${name} of ${this.name}`;
    const answer = await this.request(what, "prompts/get", { name, arguments: args }, options);
    const { normalisePromptResult } = await import("@fairlead/wire");
    return normalisePromptResult(answer);
  }

  async readResource(uri: string, options?: McpRequestOptions): Promise<ResourceResult> {
    const answer = await this.request(`${uri} of ${this.name}`, "resources/read", { uri }, options);
    const { normaliseResourceResult } = await import("@fairlead/wire");
    return normaliseResourceResult(answer, uri);
  }

  /** Values that an argument of a prompt or a resource template might take: `ref`, `argument` and `context` as in the protocol. */
  async complete(params: JsonObject, options?: McpRequestOptions): Promise<Completion> {
    const answer = await this.request(`completion of ${this.name}`, "completion/complete", params, options);
    return toCompletion(answer["completion"]);
  }

  /** Any request of the protocol; `what` names it in errors: `demo.greet`. */
  async request(what: string, method: string, params: JsonObject, options?: McpRequestOptions): Promise<JsonObject> {
    return this.#connected().request(what, method, params, options);
  }

  async #open(signal: AbortSignal): Promise<void> {
    this.#startedAt = this.#clock.now();
    // Who hears that it is connecting may call it off at once: it begins when they have heard.
    await Promise.resolve();
    try {
      signal.throwIfAborted();
      const onNotification: NotificationListener = (...news) => this.#hear(...news);
      const session = await this.#options.open({ signal, onNotification });
      // It came about in the very moment in which it was called off.
      if (signal.aborted) await session.close();
      signal.throwIfAborted();
      this.#opening = undefined;
      this.#hold(session);
    } catch (error) {
      const failure = signal.aborted
        ? new HostError("cancelled", `"${this.name}" was not connected: cancelled`, { serverName: this.name })
        : toServerError(error, { serverName: this.name, what: `"${this.name}"` });
      this.#opening = undefined;
      this.#move({ type: "ended", because: toFailure(failure) });
      if (!signal.aborted) this.#tellEnd(failure, false);
      throw failure;
    }
  }

  #hold(session: OpenedSession): void {
    const { definition, connectTimeout: defaultTimeout, observe, onNews, random = Math.random } = this.#options;
    const { connectTimeout = defaultTimeout, signIn } = session;
    const spent = this.#clock.now() - this.#startedAt - (signIn?.total() ?? 0);
    const connection = createConnection({
      session,
      serverName: this.name,
      filter: definition,
      timeLeft: Math.max(connectTimeout - spent, 1),
      connectTimeout,
      follow: this.#follows,
      clock: this.#clock,
      random,
      observe,
      onCatalog: (filteredCatalog) => this.#connection === connection && this.#take(filteredCatalog),
      onNews: (news) => onNews?.(news),
      onUnresponsive: (error) => this.#connection === connection && void this.#end(error),
    });
    this.#connection = connection;
    void session.closed.then((cause) => {
      if (this.#connection === connection) void this.#end(cause && connection.explain(cause));
    });
    this.#move({ type: "opened", peer: toPeer(session) });
  }

  #hear(method: string, params: JsonObject): void {
    const news = toNews(this.name, method, params);
    if (news) this.#options.onNews?.(news);
    this.#connection?.heard(method);
  }

  #take(filteredCatalog: FilteredCatalog): void {
    const news = catalogNews(this.name, this.#known?.catalog, filteredCatalog.catalog);
    this.#known = filteredCatalog;
    this.#move({ type: "discovered", offer: filteredCatalog.offer });
    if (news) this.#options.onNews?.(news);
  }

  /** Ends what there is; it counts as ended when nothing of it is left. */
  #end(because?: HostError): Promise<void> {
    const connection = this.#connection;
    const wasUp = connection?.filteredCatalog() !== undefined;
    this.#connection = undefined;
    this.#lastError = because;
    const ended = (): void => {
      this.#move({ type: "ended" });
      if (because) this.#tellEnd(because, wasUp);
    };
    const ending = connection?.close().then(ended, ended) ?? Promise.resolve();
    this.#ending = ending;
    this.#move({ type: "disconnect", ...(because && { because: toFailure(because) }) });
    return ending;
  }

  #tellEnd(error: HostError, wasUp: boolean): void {
    if (!this.#isWanted) return;
    for (const listener of this.#endListeners) listener({ error, startedAt: this.#startedAt, wasUp });
  }

  /** How it ended meanwhile; told when it has. */
  async #lost(): Promise<HostError> {
    await this.#ending;
    return this.#lastError ?? notConnectedError(this.#state);
  }

  #connected(): Connection {
    if (this.#connection) return this.#connection;
    throw notConnectedError(this.#state);
  }

  /** The only writer of the state. */
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
