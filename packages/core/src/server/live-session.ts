/** One connection to a server. Keeps the catalog up to date and checks that the server responds. */

import { randomUUID } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import type { Clock } from "../clock.ts";
import { followAbort } from "../connect/connect-timeout.ts";
import type { OpenedSession } from "../connect/open-session.ts";
import { needsSignIn, toCallError, toServerError } from "../connect/outcome.ts";
import { retryClassOf } from "../connect/retryable.ts";
import { HostError } from "../errors.ts";
import type { ListName, ServerNews } from "../events.ts";
import type { ToolFilter } from "../normalise/filter.ts";
import { declaresSkills } from "../skills/skill.ts";
import type { ConnectionTraces } from "../telemetry/connection-traces.ts";
import { toShellWord } from "../text/shell-word.ts";
import {
  type Catalog,
  type ListKind,
  type ListStep,
  listMethods,
  listsOf,
  mayGrow,
  type ReadOptions,
  readCatalog,
} from "./catalog.ts";
import { type FilteredCatalog, filterCatalog } from "./filtered-catalog.ts";
import { Health } from "./health.ts";
import { changedList, kindsOf } from "./news.ts";
import { Refresh } from "./refresh.ts";
import { toFailure } from "./server-state.ts";
import { listsThatChange, Subscription } from "./subscription.ts";

/** The session, limits and listeners of one connection. */
export interface LiveSessionOptions {
  readonly session: OpenedSession;
  readonly serverName: string;
  readonly filter: ToolFilter;
  /** Milliseconds for reading the first catalog. For later catalogs, `connectTimeout` applies. */
  readonly timeLeft: number;
  readonly connectTimeout: number;
  /** Returns the largest size of the catalog, in bytes of JSON. */
  readonly catalogBytes?: (() => number) | undefined;
  /** Whether to read lists again when they change. */
  readonly follow: boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe?: ((step: ListStep) => void) | undefined;
  /** Makes the spans of requests. Undefined while none are collected. */
  readonly traces?: () => ConnectionTraces | undefined;
  /** Called with every new catalog. */
  readonly onCatalog: (filteredCatalog: FilteredCatalog) => void;
  readonly onNews: (news: ServerNews) => void;
  /** Called when the server requires a sign-in or no longer responds. Must resolve when the connection is closed. */
  readonly onUnresponsive: (error: HostError) => Promise<void>;
}

/** The open session of one connection: its catalog, changed lists and health. */
export class LiveSession {
  /** A random id. Each process of a stdio program has its own connection. */
  readonly id: string = randomUUID();
  readonly #session: OpenedSession;
  readonly #options: LiveSessionOptions;
  readonly #closing = new AbortController();
  readonly #health: Health;
  readonly #refresh: Refresh;
  readonly #subscription: Subscription | undefined;
  /** For each list that could not be read again, the reason. */
  readonly #outdated = new Map<ListName, HostError>();
  readonly #sizes = new Map<ListKind, number>();
  #catalog: Catalog | undefined;
  #filteredCatalog: FilteredCatalog | undefined;
  #openRequests = 0;
  /** Set if the server has refused the access token, so that the user must sign in again. */
  #signInError: HostError | undefined;

  constructor(options: LiveSessionOptions) {
    const { session, serverName, clock, random, follow, onUnresponsive } = options;
    this.#options = options;
    this.#session = session;
    this.#health = new Health(session, serverName, clock, (error) => void onUnresponsive(error));
    this.#refresh = new Refresh((lists) => this.#readAgain(lists), clock);
    if (follow && session.era === "modern")
      this.#subscription = new Subscription({
        session: this.session,
        serverName,
        clock,
        random,
        signal: this.#closing.signal,
        onMissed: (lists) => this.#refresh.changed(...lists),
        onTrouble: () => void this.#health.check(),
      });
  }

  /** The session. If spans are collected, it makes one for each request. */
  get session(): OpenedSession {
    const traces = this.#options.traces?.();
    return traces === undefined ? this.#session : traces.of(this.#session);
  }

  get filteredCatalog(): FilteredCatalog | undefined {
    return this.#filteredCatalog;
  }

  /** Reads the whole catalog. Rejects with a `HostError`. */
  async discover(signal: AbortSignal | undefined): Promise<FilteredCatalog> {
    const { serverName, timeLeft, connectTimeout, follow, clock, observe } = this.#options;
    const { session } = this;
    const isFirst = this.#filteredCatalog === undefined;
    if (isFirst && session.listed !== undefined) {
      if (follow) this.#refresh.start();
      return this.#show(session.listed);
    }
    const deadline = startDeadline(session.timeoutClock ?? clock, isFirst ? timeLeft : connectTimeout, signal);
    const unanswered = new Set(listsOf(session).map((kind) => listMethods[kind]));
    try {
      const read = await readCatalog(session, {
        signal: deadline.signal,
        clock,
        ...this.#catalogLimit(),
        observe(step) {
          unanswered.delete(step.method);
          observe?.(step);
        },
      });
      this.#outdated.clear();
      const taken = this.#take(read, mayGrow(session));
      if (isFirst && follow) this.#refresh.start();
      return taken;
    } catch (error) {
      if (signal?.aborted)
        throw new HostError("cancelled", `reading the catalog of "${serverName}" was cancelled`, { serverName });
      throw this.explain(error, deadline.signal.aborted ? [...unanswered].join(", ") : undefined);
    } finally {
      deadline.stop();
    }
  }

  /**
   * Follows a request until it is answered, so that the server's health and its sign-in are known. Rejects with a
   * `HostError`. `read` converts the server's result. `what` is the request's name in error messages.
   */
  // Not `async`: an additional promise for each request would cost time and memory.
  follow<T>(sent: Promise<JsonObject>, read: (result: JsonObject) => T, what: string, method: string): Promise<T> {
    this.#openRequests += 1;
    return sent.then(
      (answer) => {
        this.#openRequests -= 1;
        this.#health.answered();
        this.#signInError = undefined;
        return read(answer);
      },
      (error: unknown) => this.#failed(error, what, method),
    );
  }

  notified(method: string): void {
    const list = changedList(method);
    if (list !== undefined) this.#refresh.changed(list);
    else if (method === "notifications/subscriptions/acknowledged") this.#subscription?.acknowledged();
  }

  /**
   * Call this when the notification stream of a legacy server is open again. Reads all lists that may have changed
   * meanwhile.
   */
  reopened(): void {
    this.#refresh.changed(...listsThatChange(this.session.capabilities));
  }

  /** Call this when the list has changed, although the server has not told it on this session. Reads it again. */
  listChanged(list: ListName): void {
    this.#refresh.changed(list);
  }

  /**
   * Returns undefined if the list is as the server last reported it. Otherwise resolves when it was read again.
   *
   * @throws HostError `changed`, as a rejection, if the list cannot be read
   */
  upToDate(list: ListName): Promise<void> | undefined {
    this.session.flushNotifications?.();
    return this.#refresh.upToDate(list)?.then(() => {
      const failure = this.#outdated.get(list);
      if (failure !== undefined) throw unreadList(this.#options.serverName, list, failure);
    });
  }

  check(): Promise<void> {
    return this.#health.check();
  }

  explain(error: unknown, unanswered?: string): HostError {
    if (this.session.explain) return this.session.explain(error, unanswered);
    const { serverName } = this.#options;
    const what = `"${serverName}"`;
    if (unanswered === undefined) return toServerError(error, { serverName, what });
    return new HostError("connect_timeout", `${what} timed out: no response to ${unanswered}`, {
      serverName,
      cause: error,
    });
  }

  close(): Promise<void> {
    this.#refresh.stop();
    this.#closing.abort();
    return this.session.close();
  }

  /** Replaces the catalog in one step, so that callers never see a list that is only partly read. */
  #take(read: Catalog, canBeEmpty: boolean): FilteredCatalog {
    const { serverName, filter } = this.#options;
    const outdated = [...this.#outdated].map(
      ([list, { message }]) => `the list of ${list} may be out of date: ${message}`,
    );
    const taken = filterCatalog(read, { serverName, filter, mayGrow: canBeEmpty, outdated });
    this.#catalog = read;
    return this.#show(taken);
  }

  #show(taken: FilteredCatalog): FilteredCatalog {
    this.#filteredCatalog = taken;
    this.#options.onCatalog(taken);
    return taken;
  }

  /** The size limits for reading one list, or all lists if `kind` is absent. */
  #catalogLimit(kind?: ListKind): Pick<ReadOptions, "maxBytes" | "otherBytes" | "onSize"> {
    const others = [...this.#sizes].filter(([other]) => kind !== undefined && other !== kind);
    return {
      maxBytes: this.#options.catalogBytes?.(),
      otherBytes: others.reduce((sum, [, bytes]) => sum + bytes, 0),
      onSize: (list, bytes) => this.#sizes.set(list, bytes),
    };
  }

  async #readAgain(lists: readonly ListName[]): Promise<readonly ListName[]> {
    const { clock, connectTimeout } = this.#options;
    const { session } = this;
    const closing = this.#closing.signal;
    const deadline = startDeadline(session.timeoutClock ?? clock, connectTimeout, closing);
    // The catalog of the background host lacks the tools that the settings hide, so all lists are read.
    const wanted = this.#catalog === undefined && session.listed !== undefined ? readableLists(session) : lists;
    const read = await Promise.all(wanted.map((list) => this.#readList(list, deadline.signal)));
    deadline.stop();
    const before = this.#catalog ?? session.listed?.catalog;
    if (closing.aborted || before === undefined) return [];
    this.#take(
      read.reduce((merged, replace) => replace(merged), before),
      true,
    );
    return wanted.filter((list) => this.#outdated.has(list));
  }

  /** Reads a list. Resolves with a function that puts the list into a catalog, or changes nothing if reading failed. */
  async #readList(list: ListName, signal: AbortSignal): Promise<(catalog: Catalog) => Catalog> {
    const { serverName: server, clock, onNews } = this.#options;
    const only = kindsOf[list].filter((kind) => kind !== "skills" || declaresSkills(this.session.capabilities));
    try {
      const fresh = await Promise.all(
        only.map((kind) => readCatalog(this.session, { only: [kind], signal, clock, ...this.#catalogLimit(kind) })),
      );
      this.#outdated.delete(list);
      return (before) => fresh.reduce((merged, each, index) => withList(merged, each, only[index] ?? list), before);
    } catch (error) {
      if (this.#closing.signal.aborted) return (before) => before;
      const unanswered = signal.aborted ? only.map((kind) => listMethods[kind]).join(", ") : undefined;
      const failure = this.explain(error, unanswered);
      this.#health.failed(failure);
      if (needsSignIn(failure)) this.#signInError = failure;
      void this.#endIfRefused();
      this.#outdated.set(list, failure);
      onNews({ type: "refresh_failed", server, list, error: toFailure(failure) });
      return (before) => before;
    }
  }

  /**
   * Ends the connection if the server has refused the access token and no request is open. The server may still answer
   * an open request.
   */
  async #endIfRefused(): Promise<void> {
    if (this.#signInError !== undefined && this.#openRequests === 0)
      await this.#options.onUnresponsive(this.#signInError);
  }

  async #failed(error: unknown, what: string, method: string): Promise<never> {
    const { session } = this;
    const { serverName } = this.#options;
    try {
      const failure = toCallError(error, { serverName, what, method, explain: session.explain });
      this.#health.failed(failure);
      if (needsSignIn(failure)) this.#signInError = this.explain(error);
      // The caller can connect again at once only after the expired session is closed.
      if (retryClassOf(failure, { isProgram: false }).kind === "session") await session.closed;
      throw failure;
    } finally {
      this.#openRequests -= 1;
      await this.#endIfRefused();
    }
  }
}

function readableLists(session: OpenedSession): readonly ListName[] {
  const kinds = listsOf(session);
  return (["tools", "prompts", "resources"] as const).filter((list) =>
    kindsOf[list].some((kind) => kinds.includes(kind)),
  );
}

/** The server says that a list has changed. What was decided by the old one must not be sent. */
function unreadList(serverName: string, list: ListName, cause: HostError): HostError {
  const message = `"${serverName}" reported that its ${list} have changed, and they cannot be read: ${cause.message}`;
  return new HostError("changed", message, { serverName, cause, next: `fairlead mcp logs ${toShellWord(serverName)}` });
}

/** Starts the deadline for reading lists. The caller's signal aborts it too. */
function startDeadline(
  clock: Pick<Clock, "after">,
  milliseconds: number,
  caller: AbortSignal | undefined,
): { readonly signal: AbortSignal; readonly stop: () => void } {
  const ended = new AbortController();
  const stopFollowing = followAbort(ended, caller);
  const cancelTimer = clock.after(milliseconds, () => ended.abort());
  return {
    signal: ended.signal,
    stop() {
      cancelTimer();
      stopFollowing();
    },
  };
}

/** A copy of `catalog` with one list, and the notes about it, from `fresh`. */
function withList(catalog: Catalog, fresh: Catalog, kind: keyof typeof listMethods): Catalog {
  const others = <T extends { readonly kind: string }>(notes: readonly T[]): readonly T[] =>
    notes.filter((note) => note.kind !== kind);
  return {
    ...catalog,
    [kind]: fresh[kind],
    ttlMs: fresh.ttlMs ?? catalog.ttlMs,
    dropped: [...others(catalog.dropped), ...fresh.dropped],
    repaired: [...others(catalog.repaired), ...fresh.repaired],
    truncated: [...others(catalog.truncated), ...fresh.truncated],
  };
}
