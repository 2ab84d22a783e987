/** The life of a server: where it stands, what may happen to it there, and what a call into it meets. Pure. */

import { type ErrorCode, HostError } from "../errors.ts";
import type { CatalogCounts, Failure, Peer, ServerState } from "../events.ts";
import type { Admission } from "../trust/admit.ts";

/** What happens to a server. */
export type ServerChange =
  | { readonly type: "connect" }
  | { readonly type: "opened"; readonly peer: Peer }
  | { readonly type: "discovered"; readonly offer: CatalogCounts }
  /** Its end begins; `because` is absent if we simply want it to end. */
  | { readonly type: "disconnect"; readonly because?: Failure }
  /** Nothing of it is left; `because` says why it never came about. */
  | { readonly type: "ended"; readonly because?: Failure }
  /** After a failure: it will be tried again at that moment. */
  | { readonly type: "postponed"; readonly because: Failure; readonly nextTryAt: number }
  /** After a failure: it will not be tried again by itself. */
  | { readonly type: "given_up"; readonly because: Failure };

export function initialServerState(name: string, admission: Admission, since: number): ServerState {
  if (admission.status === "admitted") return { name, since, status: "disconnected", reason: "lazy" };
  return { name, since, ...admission };
}

/** What comes too late, or out of turn, changes nothing: the very same state is returned. */
export function transition(state: ServerState, change: ServerChange, now: number): ServerState {
  const here = { name: state.name, since: now };
  switch (state.status) {
    case "disconnected":
      if (change.type === "connect") return { ...here, status: "connecting" };
      // Whoever called it off meanwhile wants no other try.
      if (change.type === "postponed" && state.reason !== "lazy")
        return backingOff(here, change.because, change.nextTryAt);
      if (change.type === "given_up" && state.reason !== "lazy") return stopped(here, change.because);
      return change.type === "disconnect" && state.reason === "backoff" ? stopped(here, state.because) : state;
    case "connecting":
      if (change.type === "opened") return { ...here, status: "connected", peer: change.peer };
      if (change.type === "disconnect") return disconnecting(here, change.because);
      return change.type === "ended" ? stopped(here, change.because) : state;
    case "connected":
      if (change.type === "discovered")
        return isSame(state.offer, change.offer) ? state : { ...state, offer: change.offer };
      return change.type === "disconnect" ? disconnecting(here, change.because) : state;
    case "disconnecting":
      // Why its end began explains more than what went wrong meanwhile.
      return change.type === "ended" ? stopped(here, state.because) : state;
    case "needs_auth":
      return change.type === "disconnect" ? stopped(here) : state;
    case "blocked":
      // Also found out on the way to a program that lies in the folder: a new attempt looks again.
      return change.type === "disconnect" && state.reason === "untrusted_folder" ? stopped(here) : state;
    // Decided by settings: nothing that happens on a connection changes it.
    case "disabled":
      return state;
  }
}

function isSame(before: CatalogCounts | undefined, after: CatalogCounts): boolean {
  const { tools, prompts, resources, resourceTemplates, note } = after;
  return (
    tools === before?.tools &&
    prompts === before.prompts &&
    resources === before.resources &&
    resourceTemplates === before.resourceTemplates &&
    note === before.note
  );
}

type Here = Pick<ServerState, "name" | "since">;

function disconnecting(here: Here, because: Failure | undefined): ServerState {
  return { ...here, status: "disconnecting", ...(because && { because }) };
}

function stopped(here: Here, because?: Failure): ServerState {
  // Who calls it off knows why: the server did nothing wrong.
  if (because === undefined || because.reason === "cancelled")
    return { ...here, status: "disconnected", reason: "lazy" };
  const { reason, message, next } = because;
  if (reason === "untrusted_folder")
    return { ...here, status: "blocked", reason, message, ...(next !== undefined && { next }) };
  return { ...here, status: reason === "auth_required" ? "needs_auth" : "disconnected", ...because };
}

function backingOff(here: Here, because: Failure, nextTryAt: number): ServerState {
  const { message, next } = because;
  const explanation = { message, ...(next !== undefined && { next }) };
  return { ...here, status: "disconnected", reason: "backoff", nextTryAt, because, ...explanation };
}

export function toFailure({ code, message, next, evidence }: HostError): Failure {
  return { reason: code, message, ...(next !== undefined && { next }), ...(evidence !== undefined && { evidence }) };
}

/** Why a call into a server that is not connected goes nowhere. */
export function notConnectedError(state: ServerState): HostError {
  const { name: serverName, status } = state;
  const why = "because" in state ? state.because : "message" in state ? state : undefined;
  if (why === undefined) return new HostError("unreachable", `"${serverName}" is ${status}`, { serverName });
  const { reason, message, ...more } = why;
  return new HostError(codeOf(reason), message, { serverName, ...more });
}

type Reason = Exclude<Extract<ServerState, { readonly message: string }>["reason"], "backoff">;

function codeOf(reason: Reason): ErrorCode {
  // A person or an administrator decided: the message names the setting.
  return reason === "user" || reason === "not_allowed" || reason === "excluded" ? "denied" : reason;
}
