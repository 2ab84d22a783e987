/** Tells a program, such as the console, which requests a host runs now. Costs nothing while no program listens. */

import { setMaxListeners } from "node:events";
import type { PolicyRequest } from "../policy/decide.ts";
import type { RequestKind } from "../policy/rules/rule.ts";
import type { LedgerRow } from "./ledger.ts";

/** A request that runs while a program watches. */
export interface WatchedRequest extends Pick<PolicyRequest, "client" | "conversation" | "args"> {
  /** A number that no other request of this host has. */
  readonly id: number;
  readonly who: NonNullable<PolicyRequest["who"]>;
  readonly kind: RequestKind;
  readonly serverName: string;
  readonly serverToolName: string;
  /** The signal that the sender gave: it shows a program which of the requests are its own. */
  readonly given: AbortSignal | undefined;
  /** The signal with which the request is sent. No other request has it while this one runs. */
  readonly signal: AbortSignal;
  /** Stops the request. */
  cancel(reason: unknown): void;
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
  /** What aborts `signal`, if the host may abort it. */
  readonly stop?: Pick<AbortController, "abort"> | undefined;
}

/** One request, seen from the code that runs it. */
export interface RequestReport {
  readonly signal: AbortSignal;
  readonly stop: Pick<AbortController, "abort">;
  asks(): void;
  asked(): void;
  ended(outcome: LedgerRow["outcome"], facts: { readonly error?: unknown; readonly result?: unknown }): void;
}

/** The requests of one host. */
export class RequestWatch {
  readonly #listeners = new Set<RequestListener>();
  #count = 0;

  /** Calls `listener` with everything that happens to requests that begin from now on. Returns the function that stops this. */
  on(listener: RequestListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reports a request that begins now. Undefined if no program watches. */
  begin(request: BeginningRequest): RequestReport | undefined {
    return this.#listeners.size === 0 ? undefined : this.#report(request);
  }

  #report({ signal: given, stop: givenStop, kind = "tool", ...request }: BeginningRequest): RequestReport {
    this.#count += 1;
    const own = givenStop === undefined || given === undefined ? new AbortController() : undefined;
    const signal = own?.signal ?? given ?? new AbortController().signal;
    const stop = own ?? givenStop ?? { abort: () => {} };
    const leave = own && given ? follow(given, own) : undefined;
    const { who, client, conversation, args, serverName, serverToolName } = request;
    const watched: WatchedRequest = {
      id: this.#count,
      who,
      client,
      conversation,
      args,
      kind,
      serverName,
      serverToolName,
      given,
      signal,
      cancel: (reason) => stop.abort(reason),
    };
    const tell = (news: RequestNews): void => {
      for (const listener of this.#listeners) listener(news);
    };
    tell({ type: "began", request: watched });
    return {
      signal,
      stop,
      asks: () => tell({ type: "asks", request: watched }),
      asked: () => tell({ type: "asked", request: watched }),
      ended(outcome, { error, result }) {
        leave?.();
        tell({ type: "ended", request: watched, outcome, error, result });
      },
    };
  }
}

/** Aborts `own` when `given` is aborted. Returns the function that ends this. */
function follow(given: AbortSignal, own: AbortController): () => void {
  const abort = (): void => own.abort(given.reason);
  if (given.aborted) abort();
  // Many requests may share one signal.
  setMaxListeners(0, given);
  given.addEventListener("abort", abort, { once: true });
  return () => given.removeEventListener("abort", abort);
}
