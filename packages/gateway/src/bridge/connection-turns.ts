/** Limits how many requests of one connection are open at a server and in total. Further requests wait. */

import type { TakeTurn } from "@fairlead/core/host";
import { type CallLimits, CallQueue } from "@fairlead/core/request";
import type { ClientCall } from "../questions/client-call.ts";

export interface ConnectionTurns {
  /** Returns the turn of a new request to this server. */
  of(server: string, call?: Pick<ClientCall, "drained">): Turn;
}

export interface Turn {
  /**
   * Waits until the request may be sent: after earlier ones have ended, and while the client reads its responses.
   * Rejects if 256 requests already wait for the server.
   */
  readonly take: TakeTurn;
  /** Ends the turn before the request ends. Does nothing if the request has no turn. */
  leave(): void;
}

/** Creates the turns of a connection that has no requests yet. */
export function createConnectionTurns(): ConnectionTurns {
  // A request brings the limits that apply when it is sent: the settings may change while the connection is open.
  let latest: CallLimits = { callsPerServer: 1, callsTotal: 1 };
  const queue = new CallQueue(() => latest);
  const queueFor = (limits: CallLimits): CallQueue => {
    latest = limits;
    return queue;
  };
  return { of: (server, call) => new RequestTurn(server, queueFor, call) };
}

/** A class, because creating functions for each request would take longer than sending it. */
class RequestTurn implements Turn {
  readonly #server: string;
  readonly #queueFor: (limits: CallLimits) => CallQueue;
  readonly #call: Pick<ClientCall, "drained"> | undefined;
  #queue: CallQueue | undefined;

  constructor(
    server: string,
    queueFor: (limits: CallLimits) => CallQueue,
    call: Pick<ClientCall, "drained"> | undefined,
  ) {
    this.#server = server;
    this.#queueFor = queueFor;
    this.#call = call;
  }

  readonly take: TakeTurn = (limits, signal) => {
    const queue = this.#queueFor(limits);
    const waiting = queue.enter(this.#server, signal);
    return waiting === undefined ? this.#entered(queue) : waiting.then(() => this.#entered(queue));
  };

  readonly leave = (): void => {
    this.#queue?.leave(this.#server);
    this.#queue = undefined;
  };

  #entered(queue: CallQueue): ReturnType<TakeTurn> {
    this.#queue = queue;
    const drained = this.#call?.drained?.();
    return drained === undefined ? this.leave : this.#whenDrained(drained);
  }

  /** The results of a client that does not read them would fill the memory. So it keeps its turn, and waits. */
  async #whenDrained(drained: Promise<void>): Promise<() => void> {
    for (let slow: Promise<void> | undefined = drained; slow !== undefined; slow = this.#call?.drained?.()) await slow;
    return this.leave;
  }
}
