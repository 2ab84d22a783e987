/** One conversation with a server, from the handshake to its end: what it offers, kept up to date, and whether anyone is still there. */

import type { JsonObject, McpRequestOptions } from "@fairlead/wire";
import type { Clock } from "../clock.ts";
import type { OpenedSession } from "../connect/open-session.ts";
import { toCallError, toServerError } from "../connect/outcome.ts";
import { retryClassOf } from "../connect/retryable.ts";
import { type Catalog, type ListStep, listMethods, listsOf, mayGrow, readCatalog } from "../discover/catalog.ts";
import { HostError } from "../errors.ts";
import type { ListName, ServerNews } from "../events.ts";
import type { ToolFilter } from "../normalise/filter.ts";
import { kindsOf } from "./catalog-news.ts";
import { type FilteredCatalog, filterCatalog } from "./filtered-catalog.ts";
import { changedList } from "./news.ts";
import { createHealth } from "./recovery/health.ts";
import { createRefresh } from "./recovery/refresh.ts";
import { toFailure } from "./server-state.ts";
import { openSubscription, type Subscription } from "./subscription.ts";

export interface ConnectionOptions {
  readonly session: OpenedSession;
  readonly serverName: string;
  readonly filter: ToolFilter;
  /** Milliseconds in which its lists must be read: the first time, and later. */
  readonly timeLeft: number;
  readonly connectTimeout: number;
  /** Lists that change are read again. */
  readonly follow: boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe?: ((step: ListStep) => void) | undefined;
  /** It offers something else than before. */
  readonly onCatalog: (filteredCatalog: FilteredCatalog) => void;
  readonly onNews: (news: ServerNews) => void;
  /** Nobody answers any more. */
  readonly onUnresponsive: (error: HostError) => void;
}

export interface Connection {
  readonly session: OpenedSession;
  readonly filteredCatalog: () => FilteredCatalog | undefined;
  /** Reads all lists. What it rejects with is explained, or `cancelled`. */
  readonly discover: (signal: AbortSignal | undefined) => Promise<FilteredCatalog>;
  readonly request: (
    what: string,
    method: string,
    params: JsonObject,
    options?: McpRequestOptions,
  ) => Promise<JsonObject>;
  readonly heard: (method: string) => void;
  readonly check: () => Promise<void>;
  readonly explain: (error: unknown, unanswered?: string) => HostError;
  readonly close: () => Promise<void>;
}

export function createConnection(options: ConnectionOptions): Connection {
  const { session, serverName, filter, timeLeft, connectTimeout, follow, clock, random, observe } = options;
  const { onCatalog, onNews, onUnresponsive } = options;
  const life = new AbortController();
  const health = createHealth({ session, serverName, clock, onUnresponsive });
  const refresh = createRefresh({ read: readAgain, clock });
  /** Lists that could not be read again, and why. */
  const outdated = new Map<ListName, string>();
  let catalog: Catalog | undefined;
  let filteredCatalog: FilteredCatalog | undefined;
  const subscription = follow && session.era === "modern" ? subscribe() : undefined;

  function subscribe(): Subscription {
    return openSubscription({
      session,
      serverName,
      clock,
      random,
      signal: life.signal,
      onMissed: (lists) => lists.forEach(refresh.changed),
      onTrouble: () => void health.check(),
    });
  }

  function explain(error: unknown, unanswered?: string): HostError {
    if (session.explain) return session.explain(error, unanswered);
    const what = `"${serverName}"`;
    if (unanswered === undefined) return toServerError(error, { serverName, what });
    return new HostError("connect_timeout", `${what} did not answer ${unanswered} in time`, {
      serverName,
      cause: error,
    });
  }

  /** All at once: nobody sees one list of before beside another one of after. */
  function take(read: Catalog, canBeEmpty: boolean): FilteredCatalog {
    const taken = filterCatalog(read, { serverName, filter, mayGrow: canBeEmpty, outdated: [...outdated.values()] });
    catalog = read;
    filteredCatalog = taken;
    onCatalog(taken);
    return taken;
  }

  async function discover(signal: AbortSignal | undefined): Promise<FilteredCatalog> {
    const isFirst = catalog === undefined;
    const late = startDeadline(clock, isFirst ? timeLeft : connectTimeout, session);
    const unanswered = new Set(listsOf(session).map((kind) => listMethods[kind]));
    try {
      const read = await readCatalog(session, {
        signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
        clock,
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
        throw new HostError("cancelled", `"${serverName}" was not discovered: cancelled`, { serverName });
      throw explain(error, late.signal.aborted ? [...unanswered].join(", ") : undefined);
    } finally {
      late.stop();
    }
  }

  async function readAgain(lists: readonly ListName[]): Promise<void> {
    const late = startDeadline(clock, connectTimeout, session);
    const signal = AbortSignal.any([late.signal, life.signal]);
    const read = await Promise.all(lists.map((list) => readList(list, signal)));
    late.stop();
    if (life.signal.aborted || catalog === undefined) return;
    take(
      read.reduce((merged, replace) => replace(merged), catalog),
      true,
    );
  }

  /** Resolves with what puts the new list in the place of the old one; with nothing to put there, it says so. */
  async function readList(list: ListName, signal: AbortSignal): Promise<(catalog: Catalog) => Catalog> {
    const only = kindsOf[list];
    try {
      const fresh = await Promise.all(only.map((kind) => readCatalog(session, { only: [kind], signal, clock })));
      outdated.delete(list);
      return (before) => fresh.reduce((merged, each, index) => withList(merged, each, only[index] ?? list), before);
    } catch (error) {
      if (life.signal.aborted) return (before) => before;
      const failure = explain(error, signal.aborted ? only.map((kind) => listMethods[kind]).join(", ") : undefined);
      health.failed(failure);
      outdated.set(list, `its list of ${list} may be out of date: ${failure.message}`);
      onNews({ type: "refresh_failed", server: serverName, list, error: toFailure(failure) });
      return (before) => before;
    }
  }

  return {
    session,
    filteredCatalog: () => filteredCatalog,
    discover,
    explain,
    async request(what, method, params, how) {
      try {
        const answer = await session.request(method, params, how);
        health.answered();
        return answer;
      } catch (error) {
        const failure = toCallError(error, { serverName, what, explain: session.explain });
        health.failed(failure);
        // Who hears that the server has forgotten us finds the conversation over, and may ask for a new one at once.
        if (retryClassOf(failure, { isProgram: false }).kind === "session") await session.closed;
        throw failure;
      }
    },
    heard(method) {
      const list = changedList(method);
      if (list !== undefined) refresh.changed(list);
      else if (method === "notifications/subscriptions/acknowledged") subscription?.acknowledged();
    },
    check: health.check,
    close() {
      refresh.stop();
      life.abort();
      return session.close();
    },
  };
}

/** A person who signs in meanwhile is not a server that is slow: then it begins anew. */
function startDeadline(
  clock: Clock,
  milliseconds: number,
  { signIn }: OpenedSession,
): { readonly signal: AbortSignal; readonly stop: () => void } {
  const late = new AbortController();
  let callOff = start();
  function start(): () => void {
    return clock.after(milliseconds, () => {
      if (signIn?.isUnderWay() === true) callOff = start();
      else late.abort();
    });
  }
  return { signal: late.signal, stop: () => callOff() };
}

/** One list from another reading, with what was noted about it. */
function withList(catalog: Catalog, fresh: Catalog, kind: keyof typeof listMethods): Catalog {
  const others = <T extends { readonly kind: string }>(notes: readonly T[]): readonly T[] =>
    notes.filter((note) => note.kind !== kind);
  return {
    ...catalog,
    [kind]: fresh[kind],
    ...(fresh.ttlMs !== undefined && { ttlMs: fresh.ttlMs }),
    dropped: [...others(catalog.dropped), ...fresh.dropped],
    repaired: [...others(catalog.repaired), ...fresh.repaired],
    truncated: [...others(catalog.truncated), ...fresh.truncated],
  };
}
