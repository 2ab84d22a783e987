/** One server's connection: opens it, reads what it offers, passes single requests on, and ends it. */

import type {
  JsonObject,
  NotificationListener,
  PromptResult,
  RequestOptions,
  ResourceResult,
  Session,
  ToolResult,
} from "@fairlead/wire";
import { type Clock, systemClock } from "../clock.ts";
import type { OpenedSession, OpenOptions } from "../connect/open-session.ts";
import { toCallError, toServerError } from "../connect/outcome.ts";
import { type ListStep, listMethods, listsOf, mayGrow, readCatalog } from "../discover/catalog.ts";
import { HostError } from "../errors.ts";
import type { MCPServerStatus, Peer, ServerState } from "../events.ts";
import type { ServerDefinition } from "../settings/definition.ts";
import { type Offering, toOffering } from "./offering.ts";
import { initialState, refusal, type ServerChange, toFailure, transition } from "./server-state.ts";

export interface McpClientOptions {
  readonly definition: Pick<ServerDefinition, "name" | "includeTools" | "excludeTools">;
  /** Rejects only when nothing of the attempt is left; the signal has nothing to say once there is a session. */
  readonly open: (options: OpenOptions) => Promise<OpenedSession>;
  /** How long `connect` and the first `discover` may take together, in milliseconds. */
  readonly connectTimeout: number;
  readonly onState?: (state: ServerState) => void;
  readonly onNotification?: NotificationListener;
  readonly observe?: (step: ListStep) => void;
  readonly clock?: Clock;
}

export interface Completion {
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore: boolean;
}

export class McpClient {
  readonly name: string;
  readonly #options: McpClientOptions;
  readonly #clock: Clock;
  #state: ServerState;
  #opening: { readonly stop: AbortController; readonly over: Promise<unknown> } | undefined;
  #session: OpenedSession | undefined;
  #offering: Offering | undefined;
  #ending: Promise<void> | undefined;
  /** What opening has left of the time to connect. */
  #timeLeft: number;

  constructor(options: McpClientOptions) {
    this.name = options.definition.name;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#state = initialState(this.name, { status: "admitted" }, this.#clock.now());
    this.#timeLeft = options.connectTimeout;
  }

  getStatus(): MCPServerStatus {
    return this.#state.status;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** What was discovered, while it is connected. */
  get offering(): Offering | undefined {
    return this.#offering;
  }

  async connect(signal?: AbortSignal): Promise<void> {
    const { status } = this.#state;
    if (status !== "disconnected")
      throw new HostError("usage", `"${this.name}" is ${status}; it can be connected only while it is disconnected`, {
        serverName: this.name,
      });
    const stop = new AbortController();
    const opening = this.#open(either(stop.signal, signal));
    this.#opening = { stop, over: Promise.allSettled([opening]) };
    this.#move({ type: "connect" });
    await opening;
  }

  /** Reads what the server offers. One that does not tell in time, or has nothing to offer, is disconnected. */
  async discover(signal?: AbortSignal): Promise<Offering> {
    const session = this.#connected();
    const late = new AbortController();
    const callOff = this.#clock.after(this.#timeLeft, () => late.abort());
    const unanswered = new Set(listsOf(session).map((kind) => listMethods[kind]));
    try {
      const catalog = await readCatalog(session, {
        signal: either(late.signal, signal),
        clock: this.#clock,
        observe: (step) => {
          unanswered.delete(step.method);
          this.#options.observe?.(step);
        },
      });
      const { definition: filter } = this.#options;
      const offering = toOffering(catalog, { serverName: this.name, filter, mayGrow: mayGrow(session) });
      // Gone between its last answer and now.
      if (this.#session !== session) throw await this.#lost();
      this.#offering = offering;
      this.#move({ type: "discovered", offer: offering.offer });
      return offering;
    } catch (error) {
      if (this.#session !== session) throw await this.#lost();
      if (signal?.aborted) throw this.#cancelled("discovered");
      const failure = this.#explain(error, session, late.signal.aborted ? [...unanswered].join(", ") : undefined);
      // A list that was read once and cannot be read again is no reason to end a conversation.
      if (this.#offering === undefined) await this.#end(failure);
      throw failure;
    } finally {
      callOff();
    }
  }

  /** Resolves when nothing of the connection is left, whatever it was in the middle of. */
  async disconnect(): Promise<void> {
    if (this.#opening) {
      const { stop, over } = this.#opening;
      this.#move({ type: "disconnect" });
      stop.abort();
      await over;
    } else if (this.#session) {
      await this.#end();
    } else {
      await this.#ending;
      this.#move({ type: "disconnect" });
    }
  }

  async callTool(name: string, args: JsonObject, options?: RequestOptions): Promise<ToolResult> {
    const answer = await this.#request(`${this.name}.${name}`, "tools/call", { name, arguments: args }, options);
    const { normaliseToolResult } = await import("@fairlead/wire");
    return normaliseToolResult(answer);
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<PromptResult> {
    const what = `prompt ${name} of ${this.name}`;
    const answer = await this.#request(what, "prompts/get", { name, arguments: args }, options);
    const { normalisePromptResult } = await import("@fairlead/wire");
    return normalisePromptResult(answer);
  }

  async readResource(uri: string, options?: RequestOptions): Promise<ResourceResult> {
    const answer = await this.#request(`${uri} of ${this.name}`, "resources/read", { uri }, options);
    const { normaliseResourceResult } = await import("@fairlead/wire");
    return normaliseResourceResult(answer, uri);
  }

  /** Values that an argument of a prompt or a resource template might take: `ref`, `argument` and `context` as in the protocol. */
  async complete(params: JsonObject, options?: RequestOptions): Promise<Completion> {
    const answer = await this.#request(`completion of ${this.name}`, "completion/complete", params, options);
    return toCompletion(answer["completion"]);
  }

  async #open(signal: AbortSignal): Promise<void> {
    const begin = this.#clock.now();
    // Who hears that it is connecting may call it off at once: it begins when they have heard.
    await Promise.resolve();
    try {
      signal.throwIfAborted();
      const onNotification: NotificationListener = (...news) => this.#options.onNotification?.(...news);
      const session = await this.#options.open({ signal, onNotification });
      // It came about in the very moment in which it was called off.
      if (signal.aborted) await session.close();
      signal.throwIfAborted();
      this.#timeLeft = Math.max(this.#options.connectTimeout - (this.#clock.now() - begin), 1);
      this.#opening = undefined;
      this.#hold(session);
    } catch (error) {
      const failure = signal.aborted ? this.#cancelled("connected") : this.#explain(error);
      this.#opening = undefined;
      this.#move({ type: "ended", because: toFailure(failure) });
      throw failure;
    }
  }

  #hold(session: OpenedSession): void {
    this.#session = session;
    void session.closed.then((cause) => {
      if (this.#session === session) void this.#end(cause && this.#explain(cause, session));
    });
    this.#move({ type: "opened", peer: toPeer(session) });
  }

  /** Ends what there is; it counts as ended when nothing of it is left. */
  #end(because?: HostError): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.#offering = undefined;
    const ended = (): void => this.#move({ type: "ended" });
    const ending = session?.close().then(ended, ended) ?? Promise.resolve();
    this.#ending = ending;
    this.#move({ type: "disconnect", ...(because && { because: toFailure(because) }) });
    return ending;
  }

  /** How it ended meanwhile; told when it has. */
  async #lost(): Promise<HostError> {
    await this.#ending;
    return refusal(this.#state);
  }

  async #request(what: string, method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    const session = this.#connected();
    try {
      return await session.request(method, params, options);
    } catch (error) {
      throw toCallError(error, { serverName: this.name, what, explain: session.explain });
    }
  }

  #connected(): OpenedSession {
    if (this.#session) return this.#session;
    throw refusal(this.#state);
  }

  #explain(error: unknown, session?: OpenedSession, unanswered?: string): HostError {
    const what = `"${this.name}"`;
    if (session?.explain) return session.explain(error, unanswered);
    if (unanswered === undefined) return toServerError(error, { serverName: this.name, what });
    return new HostError("connect_timeout", `${what} did not answer ${unanswered} in time`, {
      serverName: this.name,
      cause: error,
    });
  }

  #cancelled(what: string): HostError {
    return new HostError("cancelled", `"${this.name}" was not ${what}: cancelled`, { serverName: this.name });
  }

  /** The only writer of the state. */
  #move(change: ServerChange): void {
    const state = transition(this.#state, change, this.#clock.now());
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onState?.(state);
  }
}

function either(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? signal : AbortSignal.any([signal, other]);
}

function toPeer({ era, protocolVersion, serverInfo, verdict }: Session): Peer {
  return { era, protocolVersion, serverInfo, ...(verdict && { transport: verdict.transport }) };
}

function toCompletion(raw: unknown): Completion {
  const given = new Map<string, unknown>(typeof raw === "object" && raw !== null ? Object.entries(raw) : []);
  const [values, total] = [given.get("values"), given.get("total")];
  return {
    values: Array.isArray(values) ? values.filter((value): value is string => typeof value === "string") : [],
    ...(typeof total === "number" && { total }),
    hasMore: given.get("hasMore") === true,
  };
}
