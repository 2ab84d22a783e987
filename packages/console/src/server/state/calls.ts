/**
 * The requests that the host runs, as rows: those of clients, models, servers and views, and those that the console
 * sends itself, through the same path as all others.
 */

import type { Clock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import type { OpenedHost, Progress, RequestNews, RequestOptions, WatchedRequest } from "@fairlead/core/host";
import type { JsonObject } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import type { CallCommands } from "../../protocol/calls.ts";
import type { CallRow } from "../../protocol/rows.ts";
import { toolWithView, viewLink, viewsListed } from "../views/view-link.ts";
import { anObject, aText, type Handlers, optional, textsByName } from "./parameters.ts";
import type { Asker, Questions } from "./questions.ts";
import { KeptResults } from "./results.ts";

/** Rows that are kept. Running requests stay longer. */
const mostRows = 500;
/** Rows in a snapshot. */
const shownRows = 200;
/** Milliseconds in which several reports of progress become one event. */
const progressPause = 100;
const longestName = 2000;
/** Who sends the console's own requests, in their rows. */
const own = "console";

interface Call {
  row: CallRow;
  /** The arguments of an ended call, if its tool may have a view. */
  args?: JsonObject | undefined;
  /** Whether this console, one of its conversations or one of its views has begun it. */
  readonly isOwn: boolean;
  /** Stops the request. Absent once it has ended. */
  cancel: ((reason: unknown) => void) | undefined;
}

/** Who sends a request of this console: the person, or a view that the person sees. */
interface CallAsker {
  readonly from: string;
  readonly asks: Asker;
}

const person: CallAsker = { from: own, asks: { who: "user", from: "this console" } };

/** An ended call whose tool has a view. */
export interface CallWithView {
  readonly row: CallRow;
  readonly args: JsonObject;
  /** Absent if the call was cancelled or has failed. */
  readonly result: JsonObject | undefined;
}

interface CallsOptions {
  readonly host: OpenedHost;
  readonly questions: Questions;
  readonly clock: Clock;
  /** The current time, in milliseconds since 1970. */
  readonly now: () => number;
  readonly emit: (event: { readonly type: "call"; readonly call: CallRow }) => void;
  /** Called for each request that has ended. */
  readonly onEnded: (row: CallRow, outcome: string) => void;
}

/** All requests, latest last. */
export class Calls implements Disposable {
  readonly #options: CallsOptions;
  readonly #calls = new Map<string, Call>();
  readonly #results = new KeptResults();
  /** The requests of this console, by the signal that it gave. */
  readonly #own = new WeakMap<AbortSignal, string>();
  /** The ids of the rows of a conversation's calls, by the signal that its turn gives. */
  readonly #named = new WeakMap<AbortSignal, string>();
  #count = 0;
  /** The ids of the rows of running requests that are not this console's own. */
  readonly #ids = new Map<number, string>();
  /** The calls of running requests, by the signal with which they are sent. */
  readonly #bySignal = new WeakMap<AbortSignal, string>();
  readonly #progressing = new Set<string>();
  readonly #running = new AbortController();
  readonly #stop: () => void;
  #callOff: (() => void) | undefined;

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#stop = options.host.requests.on((news) => this.#take(news));
  }

  /** The latest rows, newest first. */
  latest(): readonly CallRow[] {
    return [...this.#calls.values()]
      .slice(-shownRows)
      .map(({ row }) => row)
      .toReversed();
  }

  /** The call whose request is sent with this signal. */
  callOf(signal: AbortSignal): string | undefined {
    return this.#bySignal.get(signal);
  }

  /** Chooses the id of the row of a request that will be sent with this signal. */
  nameRow(signal: AbortSignal): string {
    this.#count += 1;
    const id = `turn-${this.#count}`;
    this.#named.set(signal, id);
    return id;
  }

  find(id: string): CallRow | undefined {
    return this.#calls.get(id)?.row;
  }

  /** The running requests of this console, its conversations and its views to a server. */
  runningOn(server: string): readonly CallRow[] {
    return [...this.#calls.values()].flatMap(({ row, isOwn }) =>
      isOwn && row.server === server && row.endedAt === undefined ? [row] : [],
    );
  }

  /**
   * An ended call whose tool has a view.
   *
   * @throws HostError `not_found`
   */
  withView(id: string): CallWithView {
    const { row, args } = this.#find(id);
    if (args !== undefined) return { row, args, result: this.#results.whole(id) };
    throw new HostError("not_found", `the call ${id.slice(0, 100)} has no view`);
  }

  /** An ended request of a view, with its whole result. */
  ended(id: string): { readonly row: CallRow; readonly result: JsonObject | undefined } {
    return { row: this.#find(id).row, result: this.#results.whole(id) };
  }

  /** Stops a request of this console, if it still runs. */
  stop(id: string, why: string): void {
    this.#calls.get(id)?.cancel?.(new HostError("cancelled", why));
  }

  /** Notes progress that a server reports for a call. */
  progress(id: string, progress: Progress): void {
    const call = this.#calls.get(id);
    if (call === undefined || call.row.endedAt !== undefined) return;
    call.row = { ...call.row, progress };
    this.#progressing.add(id);
    this.#callOff ??= this.#options.clock.after(progressPause, () => this.#tellProgress(), { background: true });
  }

  [Symbol.dispose](): void {
    this.#stop();
    this.#callOff?.();
    this.#running.abort(new HostError("cancelled", "the console was closed"));
  }

  readonly handlers: Handlers<CallCommands> = {
    "calls/tool": {
      takes: { call: aText, server: aText, tool: aText, args: anObject },
      run: ({ call, server, tool, args }) =>
        this.begin(call, { server, kind: "tool", name: tool }, (options) =>
          this.#options.host.gateway.call(server, tool, args, {
            ...options,
            ...viewLink(this.#options.host, server),
            onProgress: (progress) => this.progress(call, progress),
          }),
        ),
    },
    "calls/resource": {
      takes: { call: aText, server: aText, uri: aText },
      run: ({ call, server, uri }) =>
        this.begin(call, { server, kind: "resource", name: uri }, (options) =>
          this.#options.host.readResource(server, uri, options),
        ),
    },
    "calls/prompt": {
      takes: { call: aText, server: aText, prompt: aText, args: textsByName },
      run: ({ call, server, prompt, args }) =>
        this.begin(call, { server, kind: "prompt", name: prompt }, (options) =>
          this.#options.host.getPrompt(server, prompt, args, options),
        ),
    },
    "calls/skill": {
      takes: { call: aText, server: aText, uri: aText, file: optional(aText) },
      run: ({ call, server, uri, file }) =>
        this.begin(call, { server, kind: "skill", name: uri }, (options) =>
          this.#options.host.readSkill(server, uri, { ...options, file }),
        ),
    },
    "calls/cancel": {
      takes: { call: aText },
      run: ({ call }) => {
        const { cancel, row } = this.#find(call);
        if (cancel === undefined && row.endedAt === undefined)
          throw new HostError("usage", "the request began before the console was opened, and cannot be cancelled here");
        cancel?.(new HostError("cancelled", "cancelled in the console"));
        return {};
      },
    },
    "calls/result": {
      takes: { call: aText },
      run: async ({ call }, { signal }) => {
        const { row, args } = this.#find(call);
        // A model's call takes the connection of all programs, and some servers list their views to others only.
        if (args !== undefined) await viewsListed(this.#options.host, row.server, signal);
        const { startedAt, endedAt = startedAt } = row;
        const view = this.#viewOf(call);
        return { warnings: [], ...this.#results.show(call), durationMs: endedAt - startedAt, view };
      },
    },
    "calls/blob": {
      // A pattern for secrets could find itself in the letters of an image.
      isHidden: true,
      takes: { call: aText, path: aText },
      run: ({ call, path }) => this.#results.blob(this.#find(call).row.id, path, this.#options.host.hide),
    },
  };

  #find(id: string): Call {
    const call = this.#calls.get(id);
    if (call !== undefined) return call;
    throw new HostError("not_found", `the call ${id.slice(0, 100)} was not found: it is too old, or it never began`);
  }

  #viewOf(id: string): CallCommands["calls/result"]["result"]["view"] {
    const { row, args } = this.#find(id);
    const found = args && toolWithView(this.#options.host, row.server, row.name);
    const server = this.#options.host.gateway.servers.find(row.server);
    if (found === undefined || row.state === "denied" || server === undefined) return undefined;
    return { uri: found.uri, isAllowed: server.definition?.extras.views === "on" || server.views.hasShown(found.uri) };
  }

  /** Begins a request of this console. What becomes of it arrives as events. */
  begin(
    id: string,
    subject: Pick<CallRow, "server" | "kind" | "name">,
    send: (options: Required<Pick<RequestOptions, "signal" | "confirm">>) => Promise<unknown>,
    { from, asks }: CallAsker = person,
  ): Record<string, never> {
    this.#options.host.gateway.servers.get(subject.server);
    if (this.#calls.has(id)) throw new HostError("usage", "the parameter call must be new: a call has this id already");
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#running.signal]);
    this.#own.set(signal, id);
    const { questions, now } = this.#options;
    this.#add({ id, startedAt: now(), ...subject, from, state: "running" }, (reason) => stop.abort(reason), true);
    const confirm: RequestOptions["confirm"] = (details, until) =>
      questions.confirm(
        details,
        { ...asks, call: id },
        until === undefined ? signal : AbortSignal.any([signal, until]),
      );
    send({ signal, confirm }).then(
      // Most requests have ended already, by what the host reports.
      (result) => this.#end(id, "ok", { result }),
      (error: unknown) => this.#end(id, error instanceof HostError ? error.code : "internal", { error }),
    );
    return {};
  }

  #take(news: RequestNews): void {
    const { request } = news;
    const ownId = request.given && this.#own.get(request.given);
    const id = ownId ?? this.#ids.get(request.id) ?? this.#newId(request);
    switch (news.type) {
      case "began":
        if (request.signal !== undefined) this.#bySignal.set(request.signal, id);
        if (ownId === undefined)
          this.#add(this.#rowOf(id, request), request.cancel, request.given && this.#named.has(request.given));
        return;
      case "asks":
        this.#change(id, { state: "asking" });
        return;
      case "asked":
        this.#change(id, { state: "running" });
        return;
      case "ended":
        this.#ids.delete(request.id);
        this.#keepArguments(id, request);
        this.#end(id, news.outcome, news);
        return;
    }
  }

  /** A conversation's call can send several requests. The first one has the row that the page knows. */
  #newId({ id: request, given }: WatchedRequest): string {
    const named = given && this.#named.get(given);
    const id = named === undefined || this.#calls.has(named) ? `request-${request}` : named;
    this.#ids.set(request, id);
    return id;
  }

  #rowOf(id: string, { serverName, serverToolName, kind, who, client, began }: WatchedRequest): CallRow {
    const { now, clock } = this.#options;
    const from = client ?? (who === "server" ? `the server ${serverName}` : who === "model" ? "model" : "a program");
    return {
      id,
      startedAt: Math.round(now() - (clock.now() - began)),
      server: serverName,
      kind,
      name: serverToolName.slice(0, longestName),
      from,
      state: "running",
    };
  }

  #keepArguments(id: string, { kind, serverName, serverToolName, args = {} }: WatchedRequest): void {
    const call = this.#calls.get(id);
    const { host } = this.#options;
    const mayHaveView =
      kind === "tool" &&
      (viewLink(host, serverName).connection ?? toolWithView(host, serverName, serverToolName)) !== undefined;
    if (call !== undefined && mayHaveView && call.row.endedAt === undefined) call.args = args;
  }

  #add(row: CallRow, cancel: Call["cancel"], isOwn = false): void {
    this.#calls.set(row.id, { row, cancel, isOwn });
    for (const [id, { row: old }] of this.#calls) {
      if (this.#calls.size <= mostRows) break;
      if (old.endedAt === undefined) continue;
      this.#calls.delete(id);
      this.#results.remove(id);
    }
    this.#options.emit({ type: "call", call: row });
  }

  #change(id: string, change: Partial<CallRow>): void {
    const call = this.#calls.get(id);
    if (call === undefined || call.row.endedAt !== undefined) return;
    call.row = { ...call.row, ...change };
    this.#options.emit({ type: "call", call: call.row });
  }

  #end(id: string, outcome: string, { result, error }: { readonly result?: unknown; readonly error?: unknown }): void {
    const call = this.#calls.get(id);
    if (call === undefined || call.row.endedAt !== undefined) return;
    if (result !== undefined) this.#results.add(id, result);
    this.#change(id, { state: stateOf(outcome), endedAt: this.#options.now(), error: failureOf(outcome, error) });
    call.cancel = undefined;
    this.#options.onEnded(call.row, outcome);
  }

  #tellProgress(): void {
    this.#callOff = undefined;
    for (const id of this.#progressing) {
      const row = this.#calls.get(id)?.row;
      if (row !== undefined && row.endedAt === undefined) this.#options.emit({ type: "call", call: row });
    }
    this.#progressing.clear();
  }
}

function stateOf(outcome: string): CallRow["state"] {
  if (outcome === "ok" || outcome === "cancelled" || outcome === "denied") return outcome;
  return outcome === "changed" ? "denied" : "error";
}

function failureOf(outcome: string, error: unknown): CallRow["error"] {
  if (outcome === "ok") return undefined;
  if (error instanceof HostError) {
    const { code, message, next } = error;
    return { code, message, ...(next !== undefined && { next }) };
  }
  if (outcome === "tool_error") return { code: outcome, message: "the tool reported an error" };
  return { code: "internal", message: errorMessage(error) };
}
