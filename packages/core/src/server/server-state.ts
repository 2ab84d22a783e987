/** The states of a server, and the events that lead from one state to the next. Pure. */

import { type ErrorCode, HostError } from "../errors.ts";
import type { CatalogCounts, Failure, Peer, ServerState } from "../events.ts";
import type { Admission } from "../trust/admit.ts";

/** An event that may change the state of a server. */
export type ServerChange =
  | { readonly type: "connect" }
  | { readonly type: "opened"; readonly peer: Peer }
  | { readonly type: "discovered"; readonly offer: CatalogCounts }
  /** Fairlead begins to close the connection. `because` is absent if the host called `disconnect`. */
  | { readonly type: "disconnect"; readonly because?: Failure }
  /** The connection is closed. If connecting failed, `because` says why. */
  | { readonly type: "ended"; readonly because?: Failure }
  /** Fairlead connects again at `nextTryAt`, after a failure. */
  | { readonly type: "postponed"; readonly because: Failure; readonly nextTryAt: number }
  /** After this failure, Fairlead does not connect again on its own. */
  | { readonly type: "given_up"; readonly because: Failure };

/** The state of a server before it is started. */
export function initialServerState(name: string, admission: Admission, since: number): ServerState {
  if (admission.status === "admitted") return { name, since, status: "disconnected", reason: "lazy" };
  return { name, since, ...admission };
}

/** Returns the next state. If the event does not fit the current state, returns the same object. */
export function transition(state: ServerState, change: ServerChange, now: number): ServerState {
  const here = { name: state.name, since: now };
  switch (state.status) {
    case "disconnected":
      if (change.type === "connect") return { ...here, status: "connecting" };
      // After a cancelled attempt to connect, the reason is "lazy". Fairlead does not repeat that attempt.
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
      // The reason for closing explains more than an error that happened while closing.
      return change.type === "ended" ? stopped(here, state.because) : state;
    case "needs_auth":
      return change.type === "disconnect" ? stopped(here) : state;
    case "blocked":
      // After `disconnect`, the user can start a blocked server again. The start then checks the trusted folder and the
      // approval again.
      return change.type === "disconnect" && isBlocking(state.reason) ? stopped(here) : state;
    // A disabled server stays disabled until the settings change.
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
  return { ...here, status: "disconnecting", because };
}

function stopped(here: Here, because?: Failure): ServerState {
  // A cancelled attempt is not a failure of the server.
  if (because === undefined || because.reason === "cancelled")
    return { ...here, status: "disconnected", reason: "lazy" };
  const { reason, message, next } = because;
  if (isBlocking(reason)) return { ...here, status: "blocked", reason, message, next };
  return { ...here, status: reason === "auth_required" ? "needs_auth" : "disconnected", ...because };
}

function isBlocking(reason: string): reason is "untrusted_folder" | "awaiting_approval" {
  return reason === "untrusted_folder" || reason === "awaiting_approval";
}

function backingOff(here: Here, because: Failure, nextTryAt: number): ServerState {
  const { message, next } = because;
  const explanation = { message, next };
  return { ...here, status: "disconnected", reason: "backoff", nextTryAt, because, ...explanation };
}

/** Converts an error to plain data, which states and events contain. */
export function toFailure({ code, message, next, evidence }: HostError): Failure {
  return { reason: code, message, next, evidence };
}

/**
 * The error for a request to a server that is not connected. Code, message and next step explain the server's state.
 */
export function notConnectedError(state: ServerState): HostError {
  const { name: serverName, status } = state;
  const why = "because" in state ? state.because : "message" in state ? state : undefined;
  if (why === undefined) return new HostError("unreachable", `"${serverName}" is ${status}`, { serverName });
  const { reason, message, ...more } = why;
  return new HostError(codeOf(reason), message, { serverName, ...more });
}

type Reason = Exclude<Extract<ServerState, { readonly message: string }>["reason"], "backoff">;

function codeOf(reason: Reason): ErrorCode {
  // The user or the administrator has blocked the server in the settings; the message names the setting.
  return reason === "user" || reason === "not_allowed" || reason === "excluded" ? "denied" : reason;
}
