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
import { createHealth } from "./health.ts";
import { changedList, kindsOf } from "./news.ts";
import { createRefresh } from "./refresh.ts";
import { toFailure } from "./server-state.ts";
import { listsThatChange, openSubscription, type Subscription } from "./subscription.ts";

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
  /** Called with every new catalog. */
  readonly onCatalog: (filteredCatalog: FilteredCatalog) => void;
  readonly onNews: (news: ServerNews) => void;
  /** Called when the server requires a sign-in or no longer responds. Must resolve when the connection is closed. */
  readonly onUnresponsive: (error: HostError) => Promise<void>;
}

/** One connection to a server. */
export interface LiveSession {
  /** A random id. Each process of a stdio program has its own connection. */
  readonly id: string;
  readonly session: OpenedSession;
  readonly filteredCatalog: () => FilteredCatalog | undefined;
  /** Reads the whole catalog. Rejects with a `HostError`. */
  readonly discover: (signal: AbortSignal | undefined) => Promise<FilteredCatalog>;
  /**
   * Follows a request until it is answered, so that the server's health and its sign-in are known. Rejects with a
   * `HostError`. `read` converts the server's result. `what` is the request's name in error messages.
   */
  readonly follow: <T>(
    sent: Promise<JsonObject>,
    read: (result: JsonObject) => T,
    what: string,
    method: string,
  ) => Promise<T>;
  readonly notified: (method: string) => void;
  /**
   * Call this when the notification stream of a legacy server is open again. Reads all lists that may have changed
   * meanwhile.
   */
  readonly reopened: () => void;
  /**
   * Returns undefined if the list is as the server last reported it. Otherwise resolves when it was read again.
   *
   * @throws HostError `changed`, as a rejection, if the list cannot be read
   */
  readonly upToDate: (list: ListName) => Promise<void> | undefined;
  readonly check: () => Promise<void>;
  readonly explain: (error: unknown, unanswered?: string) => HostError;
  readonly close: () => Promise<void>;
}

/** Creates the connection for an open session. */
export function openLiveSession(options: LiveSessionOptions): LiveSession {
  const { session, serverName, filter, timeLeft, connectTimeout, follow, clock, random, observe } = options;
  const { onCatalog, onNews, onUnresponsive } = options;
  const closing = new AbortController();
  const health = createHealth({ session, serverName, clock, onUnresponsive: (error) => void onUnresponsive(error) });
  const refresh = createRefresh({ read: readAgain, clock });
  /** For each list that could not be read again, the reason. */
  const outdated = new Map<ListName, HostError>();
  const sizes = new Map<ListKind, number>();
  let catalog: Catalog | undefined;
  let filteredCatalog: FilteredCatalog | undefined;
  let openRequests = 0;
  /** Set if the server has refused the access token, so that the user must sign in again. */
  let signInError: HostError | undefined;
  const subscription = follow && session.era === "modern" ? subscribe() : undefined;

  function subscribe(): Subscription {
    return openSubscription({
      session,
      serverName,
      clock,
      random,
      signal: closing.signal,
      onMissed: (lists) => lists.forEach(refresh.changed),
      onTrouble: () => void health.check(),
    });
  }

  function explain(error: unknown, unanswered?: string): HostError {
    if (session.explain) return session.explain(error, unanswered);
    const what = `"${serverName}"`;
    if (unanswered === undefined) return toServerError(error, { serverName, what });
    return new HostError("connect_timeout", `${what} timed out: no response to ${unanswered}`, {
      serverName,
      cause: error,
    });
  }

  /** Replaces the catalog in one step, so that callers never see a list that is only partly read. */
  function take(read: Catalog, canBeEmpty: boolean): FilteredCatalog {
    const taken = filterCatalog(read, { serverName, filter, mayGrow: canBeEmpty, outdated: outdatedNotes() });
    catalog = read;
    filteredCatalog = taken;
    onCatalog(taken);
    return taken;
  }

  function outdatedNotes(): readonly string[] {
    return [...outdated].map(([list, { message }]) => `the list of ${list} may be out of date: ${message}`);
  }

  async function discover(signal: AbortSignal | undefined): Promise<FilteredCatalog> {
    const isFirst = catalog === undefined;
    const deadline = startDeadline(clock, isFirst ? timeLeft : connectTimeout, session, signal);
    const unanswered = new Set(listsOf(session).map((kind) => listMethods[kind]));
    try {
      const read = await readCatalog(session, {
        signal: deadline.signal,
        clock,
        ...catalogLimit(),
        observe(step) {
          unanswered.delete(step.method);
          observe?.(step);
        },
      });
      outdated.clear();
      const taken = take(read, mayGrow(session));
      if (isFirst && follow) refresh.start();
      return taken;
    } catch (error) {
      if (signal?.aborted)
        throw new HostError("cancelled", `reading the catalog of "${serverName}" was cancelled`, { serverName });
      throw explain(error, deadline.signal.aborted ? [...unanswered].join(", ") : undefined);
    } finally {
      deadline.stop();
    }
  }

  /** The size limits for reading one list, or all lists if `kind` is absent. */
  function catalogLimit(kind?: ListKind): Pick<ReadOptions, "maxBytes" | "otherBytes" | "onSize"> {
    const maxBytes = options.catalogBytes?.();
    const others = [...sizes].filter(([other]) => kind !== undefined && other !== kind);
    return {
      maxBytes,
      otherBytes: others.reduce((sum, [, bytes]) => sum + bytes, 0),
      onSize: (list, bytes) => sizes.set(list, bytes),
    };
  }

  async function readAgain(lists: readonly ListName[]): Promise<readonly ListName[]> {
    const deadline = startDeadline(clock, connectTimeout, session, closing.signal);
    const read = await Promise.all(lists.map((list) => readList(list, deadline.signal)));
    deadline.stop();
    if (closing.signal.aborted || catalog === undefined) return [];
    take(
      read.reduce((merged, replace) => replace(merged), catalog),
      true,
    );
    return lists.filter((list) => outdated.has(list));
  }

  /**
   * Ends the connection if the server has refused the access token and no request is open. The server may still answer
   * an open request.
   */
  async function endIfRefused(): Promise<void> {
    if (signInError !== undefined && openRequests === 0) await onUnresponsive(signInError);
  }

  /** Reads a list. Resolves with a function that puts the list into a catalog, or changes nothing if reading failed. */
  async function readList(list: ListName, signal: AbortSignal): Promise<(catalog: Catalog) => Catalog> {
    const only = kindsOf[list];
    try {
      const fresh = await Promise.all(
        only.map((kind) => readCatalog(session, { only: [kind], signal, clock, ...catalogLimit(kind) })),
      );
      outdated.delete(list);
      return (before) => fresh.reduce((merged, each, index) => withList(merged, each, only[index] ?? list), before);
    } catch (error) {
      if (closing.signal.aborted) return (before) => before;
      const failure = explain(error, signal.aborted ? only.map((kind) => listMethods[kind]).join(", ") : undefined);
      health.failed(failure);
      if (needsSignIn(failure)) signInError = failure;
      void endIfRefused();
      outdated.set(list, failure);
      onNews({ type: "refresh_failed", server: serverName, list, error: toFailure(failure) });
      return (before) => before;
    }
  }

  function answered(answer: JsonObject): JsonObject {
    openRequests -= 1;
    health.answered();
    signInError = undefined;
    return answer;
  }

  async function failed(error: unknown, what: string, method: string): Promise<never> {
    try {
      const failure = toCallError(error, { serverName, what, method, explain: session.explain });
      health.failed(failure);
      if (needsSignIn(failure)) signInError = explain(error);
      // The caller can connect again at once only after the expired session is closed.
      if (retryClassOf(failure, { isProgram: false }).kind === "session") await session.closed;
      throw failure;
    } finally {
      openRequests -= 1;
      await endIfRefused();
    }
  }

  return {
    id: randomUUID(),
    session,
    filteredCatalog: () => filteredCatalog,
    discover,
    explain,
    // Not `async`: an additional promise for each request would cost time and memory.
    follow(sent, read, what, method) {
      openRequests += 1;
      return sent.then(
        (answer) => read(answered(answer)),
        (error: unknown) => failed(error, what, method),
      );
    },
    notified(method) {
      const list = changedList(method);
      if (list !== undefined) refresh.changed(list);
      else if (method === "notifications/subscriptions/acknowledged") subscription?.acknowledged();
    },
    upToDate(list) {
      session.flushNotifications?.();
      return refresh.upToDate(list)?.then(() => {
        const failure = outdated.get(list);
        if (failure !== undefined) throw unreadList(serverName, list, failure);
      });
    },
    reopened: () => listsThatChange(session.capabilities).forEach(refresh.changed),
    check: health.check,
    close() {
      refresh.stop();
      closing.abort();
      return session.close();
    },
  };
}

/** The server says that a list has changed. What was decided by the old one must not be sent. */
function unreadList(serverName: string, list: ListName, cause: HostError): HostError {
  const message = `"${serverName}" reported that its ${list} have changed, and they cannot be read: ${cause.message}`;
  return new HostError("changed", message, { serverName, cause, next: `fairlead mcp logs ${toShellWord(serverName)}` });
}

/**
 * Starts the deadline for reading lists. The caller's signal aborts it too. While the user is signing in, it is
 * extended.
 */
function startDeadline(
  clock: Clock,
  milliseconds: number,
  { signIn }: OpenedSession,
  caller: AbortSignal | undefined,
): { readonly signal: AbortSignal; readonly stop: () => void } {
  const ended = new AbortController();
  const stopFollowing = followAbort(ended, caller);
  let cancelTimer = start();
  function start(): () => void {
    return clock.after(milliseconds, () => {
      if (signIn?.isUnderWay() === true) cancelTimer = start();
      else ended.abort();
    });
  }
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
