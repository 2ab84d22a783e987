/** Tells a program, such as the console, which requests a host runs now. */

import type { Clock } from "../clock.ts";
import type { ConfirmPort } from "../policy/confirmation.ts";
import type { PolicyRequest } from "../policy/decide.ts";
import type { RequestKind } from "../policy/rules/rule.ts";
import type { LedgerRow } from "./ledger.ts";
import { type Member, MemberList } from "./member-list.ts";
import type { BegunWork } from "./open-work.ts";

/** A request that runs while a program watches. */
export interface WatchedRequest extends Pick<PolicyRequest, "client" | "conversation" | "args"> {
  /** A number that no other request of this host has. */
  readonly id: number;
  /** When it began, by the host's clock. */
  readonly began: number;
  readonly who: NonNullable<PolicyRequest["who"]>;
  readonly kind: RequestKind;
  readonly serverName: string;
  readonly serverToolName: string;
  /** The signal that the sender gave: it shows a program which of the requests are its own. */
  readonly given: AbortSignal | undefined;
  /**
   * The signal with which the request is sent. No other request has it while this one runs. Absent if the request began
   * without a signal, before any program watched.
   */
  readonly signal: AbortSignal | undefined;
  /** Stops the request. Absent if `signal` is. */
  readonly cancel: ((reason: unknown) => void) | undefined;
}

/** What happens to a watched request. It begins and ends once, and may ask a person in between. */
export type RequestNews = { readonly request: WatchedRequest } & (
  | { readonly type: "began" | "asks" | "asked" }
  | {
      readonly type: "ended";
      readonly outcome: LedgerRow["outcome"];
      readonly error?: unknown;
      /** The result as the server sent it, before it is shown to a model. */
      readonly result?: unknown;
    }
);

type RequestListener = (news: RequestNews) => void;

/** How `RequestWatch` describes a request that begins. */
export interface BeginningRequest extends Pick<PolicyRequest, "client" | "conversation" | "kind" | "args"> {
  readonly who: WatchedRequest["who"];
  readonly serverName: string;
  readonly serverToolName: string;
  readonly signal?: AbortSignal | undefined;
  /** Asks the sender's user to confirm the request, and what its server wants meanwhile. */
  readonly confirm?: ConfirmPort | undefined;
  /** The connection that the request uses. Default: the shared one. */
  readonly connection?: object | undefined;
}

/** The signal of a request, and what aborts it if no other work shares it. */
type RequestWork = Pick<BegunWork, "signal" | "stop">;

/** The requests of one host. A request that no program watches costs an entry in a list. */
export class RequestWatch {
  readonly #clock: Pick<Clock, "now">;
  readonly #listeners = new Set<RequestListener>();
  readonly #running = new MemberList<RunningRequest>();
  #count = 0;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Whether a program watches. A request that begins then needs a signal of its own. */
  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  /**
   * Calls `listener` with everything that happens to requests, and first with those that run already. Returns the function
   * that stops this.
   */
  on(listener: RequestListener): () => void {
    for (const { watched, isAwaitingAnswer } of this.#running.all().toSorted((one, other) => one.id - other.id)) {
      listener({ type: "began", request: watched });
      if (isAwaitingAnswer) listener({ type: "asks", request: watched });
    }
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notes a request that begins now. The caller must report its end. */
  begin(request: BeginningRequest, work: RequestWork): RunningRequest {
    this.#count += 1;
    const running = new RunningRequest(this, this.#count, this.#clock.now(), request, work);
    this.#running.add(running);
    if (this.isWatched) this.tell({ type: "began", request: running.watched });
    return running;
  }

  /**
   * The way to the user whose request runs on a connection. Undefined if there is none, or if the requests of several
   * senders run there: it is not known then who should be asked.
   */
  confirmOf(serverName: string, connection: object | undefined, isShared: boolean): ConfirmPort | undefined {
    const ports = new Map<string, ConfirmPort>();
    for (const running of this.#running.all()) {
      const { request } = running;
      if (request.serverName !== serverName || request.kind === "host") continue;
      const isOn = request.connection === undefined ? isShared : request.connection === connection;
      if (!isOn) continue;
      const { who, client, conversation } = request;
      if (request.confirm !== undefined) ports.set(JSON.stringify([who, client, conversation]), request.confirm);
    }
    const [port, another] = ports.values();
    return another === undefined ? port : undefined;
  }

  tell(news: RequestNews): void {
    for (const listener of this.#listeners) listener(news);
  }

  end(request: RunningRequest): void {
    this.#running.remove(request);
  }
}

/** One request, seen from the code that runs it. */
export class RunningRequest implements Member {
  slotNumber = 0;
  isAwaitingAnswer = false;
  readonly id: number;
  readonly #watch: RequestWatch;
  readonly #began: number;
  readonly request: BeginningRequest;
  readonly #work: RequestWork;
  #watched: WatchedRequest | undefined;

  constructor(watch: RequestWatch, id: number, began: number, request: BeginningRequest, work: RequestWork) {
    this.#watch = watch;
    this.id = id;
    this.#began = began;
    this.request = request;
    this.#work = work;
  }

  /** The request as programs see it: always the same object. */
  get watched(): WatchedRequest {
    if (this.#watched !== undefined) return this.#watched;
    const { kind = "tool", signal: given, who, client, conversation, args, serverName, serverToolName } = this.request;
    const { signal, stop } = this.#work;
    this.#watched = {
      id: this.id,
      began: this.#began,
      who,
      client,
      conversation,
      args,
      kind,
      serverName,
      serverToolName,
      given,
      signal: stop && signal,
      cancel: stop && ((reason) => stop.abort(reason)),
    };
    return this.#watched;
  }

  asks(): void {
    this.isAwaitingAnswer = true;
    if (this.#watch.isWatched) this.#watch.tell({ type: "asks", request: this.watched });
  }

  asked(): void {
    this.isAwaitingAnswer = false;
    if (this.#watch.isWatched) this.#watch.tell({ type: "asked", request: this.watched });
  }

  ended(
    outcome: LedgerRow["outcome"],
    { error, result }: { readonly error?: unknown; readonly result?: unknown },
  ): void {
    this.#watch.end(this);
    if (this.#watch.isWatched) this.#watch.tell({ type: "ended", request: this.watched, outcome, error, result });
  }
}
