/**
 * Limits how many calls run at once, for each server and in total. Each server has a queue of waiting calls, and the
 * servers take turns.
 */

import { HostError } from "../errors.ts";

/** The settings `fairlead.limits.callsPerServer` and `callsTotal`. */
export interface CallLimits {
  readonly callsPerServer: number;
  readonly callsTotal: number;
}

interface WaitingCall {
  /** Cancels the wait. */
  readonly signal: AbortSignal;
  readonly start: () => void;
  /** Called instead of `start` when the signal is aborted. */
  readonly cancel: () => void;
}

interface Line {
  running: number;
  /** The waiting calls in the order in which they arrived. */
  readonly waiting: WaitingCall[];
}

/** Decides when each call may start. When a call ends, the servers with waiting calls take turns. */
export class CallQueue {
  readonly #limits: () => CallLimits;
  readonly #mostWaiting: number;
  /** The queues by server. The server whose turn is next comes first. A server without calls has no queue. */
  readonly #lines = new Map<string, Line>();
  #running = 0;
  /** The number of waiting calls of all servers together. */
  #waiting = 0;
  /**
   * The number of waiting calls for each abort signal. Calls with the same signal share one listener, because a signal
   * with many listeners is slow.
   */
  readonly #sharing = new Map<AbortSignal, { waiting: number }>();

  /**
   * @param limits Returns the limits that apply now: the settings may change while calls run.
   * @param mostWaiting Maximum number of calls that may wait for one server.
   */
  constructor(limits: () => CallLimits, mostWaiting = 256) {
    this.#limits = limits;
    this.#mostWaiting = mostWaiting;
  }

  /**
   * Counts a call as running. If too many calls run, or calls to this server already wait, returns a promise that
   * resolves when the call may start. The caller must call `leave` when a started call has ended.
   *
   * @throws HostError (as a rejection) `busy` if too many calls wait. If `signal` is aborted, rejects with its reason.
   */
  enter(server: string, signal: AbortSignal): Promise<void> | undefined {
    if (signal.aborted) return Promise.reject(signal.reason);
    const { callsPerServer, callsTotal } = this.#limits();
    const line = this.#lineOf(server);
    if (this.#running >= callsTotal || line.running >= callsPerServer || line.waiting.length > 0)
      return new Promise((start, reject) => {
        this.#wait(server, { signal, start, cancel: () => reject(signal.reason) });
      });
    this.#running += 1;
    line.running += 1;
    return undefined;
  }

  /** Reports that a started call has ended. The caller must do this exactly once for each call. */
  leave(server: string): void {
    const line = this.#lines.get(server);
    if (line === undefined) return;
    this.#running -= 1;
    line.running -= 1;
    if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(server);
    this.#startNext();
  }

  #wait(server: string, call: WaitingCall): void {
    const { signal } = call;
    const line = this.#lineOf(server);
    if (line.waiting.length >= this.#mostWaiting)
      throw new HostError("busy", "Too many concurrent tool executions", { serverName: server });
    const shared = this.#sharing.get(signal);
    if (shared === undefined) {
      signal.addEventListener("abort", this.#cancelAll);
      this.#sharing.set(signal, { waiting: 1 });
    } else shared.waiting += 1;
    line.waiting.push(call);
    this.#waiting += 1;
    // If the limits were raised, earlier calls may start now.
    this.#startNext();
  }

  #startNext(): void {
    const { callsPerServer, callsTotal } = this.#limits();
    while (this.#waiting > 0 && this.#running < callsTotal) {
      const server = this.#nextServer(callsPerServer);
      if (server === undefined) return;
      const line = this.#lineOf(server);
      // Moves this server to the end of the map, so that the other servers come first.
      if (this.#lines.size > 1 && this.#lines.delete(server)) this.#lines.set(server, line);
      const call = line.waiting.shift();
      if (call === undefined) return;
      this.#forget(call);
      this.#running += 1;
      line.running += 1;
      call.start();
    }
  }

  /** The first server with a waiting call that may start. */
  #nextServer(callsPerServer: number): string | undefined {
    for (const [server, { running, waiting }] of this.#lines)
      if (running < callsPerServer && waiting.length > 0) return server;
    return undefined;
  }

  /** Updates the counts for a call that no longer waits. */
  #forget({ signal }: WaitingCall): void {
    this.#waiting -= 1;
    const shared = this.#sharing.get(signal);
    if (shared === undefined) return;
    shared.waiting -= 1;
    if (shared.waiting > 0) return;
    this.#sharing.delete(signal);
    signal.removeEventListener("abort", this.#cancelAll);
  }

  readonly #cancelAll = ({ target: signal }: Event): void => {
    for (const [server, line] of this.#lines) {
      for (const call of line.waiting.filter((each) => each.signal === signal)) {
        line.waiting.splice(line.waiting.indexOf(call), 1);
        this.#forget(call);
        call.cancel();
      }
      if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(server);
    }
  };

  #lineOf(server: string): Line {
    let line = this.#lines.get(server);
    if (line === undefined) {
      line = { running: 0, waiting: [] };
      this.#lines.set(server, line);
    }
    return line;
  }
}
