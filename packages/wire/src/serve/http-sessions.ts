/**
 * Legacy sessions that several processes share. A session's client may send each request to another process, so each
 * process can open a session that another one has begun, and passes on what another one waits for.
 */

import type { RequestId, RpcMessage } from "../rpc/channel.ts";
import { member, stringOf } from "../shapes/json.ts";
import type { HttpSession } from "./http-session.ts";

/** Makes the ids of sessions, and opens sessions of other processes. `Context` is what `admit` gives to a client. */
export interface HttpSessions<Context> {
  /** Names this process. It is part of the ids of requests to clients, which are unique in a session that way. */
  readonly process: string;
  /** Returns the id of a new session. `initialize` is its first message. */
  idOf(context: Context, initialize: RpcMessage): string;
  /**
   * Returns the messages that open a session which another process has begun, `initialize` first. Undefined if this
   * client has no such session, or if it has ended.
   */
  readonly messagesOf: (context: Context, id: string) => Promise<readonly RpcMessage[] | undefined>;
  /**
   * Called with a request that changes the session, such as `logging/setLevel`: other processes must know of it. The
   * request waits for the promise.
   */
  changed(id: string, request: RpcMessage): void | Promise<void>;
  /** Called when the client has ended a session. The answer to the client waits for the promise. */
  ended(context: Context, id: string): void | Promise<void>;
  /**
   * Resolves when this process has read what other processes have done to a session. Undefined if it has not served the
   * session yet. A request of the session waits for it.
   */
  caughtUp(id: string): Promise<void> | undefined;
  /** Passes a client's message on to another process; to all others, if it is not known which one waits for it. */
  pass(id: string, message: RpcMessage, process: string | undefined): void;
}

/** The requests that change a session. */
export const sessionMethods: ReadonlySet<unknown> = new Set([
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
]);

/** Returns the id of a request to the client, as the client sees it. */
export function toClientId(process: string, id: unknown): string {
  return `${process}:${String(id)}`;
}

/** Returns the id of a request of this process, from the id that the client sees. Undefined for all others. */
export function toOwnId(process: string, id: unknown): RequestId | undefined {
  const [, from, number] = clientId.exec(stringOf(id) ?? "") ?? [];
  return from === process ? Number(number) : undefined;
}

const clientId = /^([\w-]{1,32}):(\d{1,15})$/;

/**
 * Says which process waits for a client's message, if it is not this one: an answer to a request of another process, or
 * the cancellation of a request that is not open here. `"all"`: any of the others.
 */
export function otherProcess(message: RpcMessage, session: HttpSession, process: string): string | undefined {
  if (message["method"] === undefined) {
    const [, from] = clientId.exec(stringOf(message["id"]) ?? "") ?? [];
    return from === process ? undefined : from;
  }
  if (message["method"] !== "notifications/cancelled") return undefined;
  return session.has(member(message["params"], "requestId") as RequestId) ? undefined : "all";
}
