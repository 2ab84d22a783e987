/**
 * Limits how many calls run at once, for each server and in total. Each server has a queue of waiting calls, and the
 * servers take turns.
 */

import { HostError } from "../errors.ts";

/** Limits for running calls (per server and in total) and for waiting calls. */
export interface CallQueueOptions {
  readonly perServer: number;
  readonly total: number;
  /** Maximum number of calls that may wait for one server. */
  readonly waitingPerServer: number;
}

/** A call that waits until it may start. */
export interface WaitingCall {
  /** Cancels the wait. */
  readonly signal: AbortSignal;
  /** Starts the call. From then on, the call counts as running until `leave` is called. */
  start(): void;
  /** Called instead of `start` when the signal is aborted. */
  cancel(): void;
}

/** Decides when each call may start. */
export interface CallQueue {
  /**
   * Counts a call as running and returns true. Returns false if too many calls are running, or if calls to this server
   * already wait.
   */
  tryEnter(server: string): boolean;
  /**
   * Adds a waiting call. Its `start` runs when enough other calls have ended. Use this only after `tryEnter` returned
   * false.
   *
   * @throws HostError `busy` if too many calls wait. If the signal is already aborted, throws its reason.
   */
  wait(server: string, call: WaitingCall): void;
  /** Reports that a started call has ended. The caller must do this exactly once for each call. */
  leave(server: string): void;
  /**
   * Waits until the call may start. Resolves with a function that the caller must run when the call has ended.
   *
   * @throws HostError `busy` if too many calls wait. If `signal` is aborted, rejects with its reason.
   */
  enter(server: string, signal: AbortSignal): Promise<() => void>;
}

interface Line {
  running: number;
  /** The waiting calls in the order in which they arrived. */
  readonly waiting: WaitingCall[];
}

/** Creates an empty queue. When a call ends, the servers with waiting calls take turns. */
export function createCallQueue({ perServer, total, waitingPerServer }: CallQueueOptions): CallQueue {
  /** The queues by server. The server whose turn is next comes first. A server without calls has no queue. */
  const lines = new Map<string, Line>();
  let running = 0;
  /** The number of waiting calls of all servers together. */
  let waiting = 0;
  /**
   * The number of waiting calls for each abort signal. Calls with the same signal share one listener, because a signal
   * with many listeners is slow.
   */
  const sharing = new Map<AbortSignal, { waiting: number }>();

  function leave(server: string): void {
    const line = lines.get(server);
    if (line === undefined) return;
    running -= 1;
    line.running -= 1;
    if (line.running === 0 && line.waiting.length === 0) lines.delete(server);
    if (waiting > 0) startNext();
  }

  function startNext(): void {
    while (running < total) {
      const next = nextInTurn();
      if (next === undefined) return;
      const line = lineOf(next);
      // Moves this server to the end of the map, so that the other servers come first.
      if (lines.size > 1 && lines.delete(next)) lines.set(next, line);
      const call = line.waiting.shift();
      if (call === undefined) return;
      forget(call);
      running += 1;
      line.running += 1;
      call.start();
    }
  }

  /** The server whose waiting call starts next; undefined if none may start now. */
  function nextInTurn(): string | undefined {
    if (waiting === 0) return undefined;
    for (const [server, line] of lines) if (line.running < perServer && line.waiting.length > 0) return server;
    return undefined;
  }

  /** Updates the counts for a call that no longer waits. */
  function forget({ signal }: WaitingCall): void {
    waiting -= 1;
    const shared = sharing.get(signal);
    if (shared === undefined) return;
    shared.waiting -= 1;
    if (shared.waiting > 0) return;
    sharing.delete(signal);
    signal.removeEventListener("abort", cancelAll);
  }

  function cancelAll({ target: signal }: Event): void {
    for (const [server, line] of lines) {
      for (const call of line.waiting.filter((each) => each.signal === signal)) {
        line.waiting.splice(line.waiting.indexOf(call), 1);
        forget(call);
        call.cancel();
      }
      if (line.running === 0 && line.waiting.length === 0) lines.delete(server);
    }
  }

  function lineOf(server: string): Line {
    let line = lines.get(server);
    if (line === undefined) {
      line = { running: 0, waiting: [] };
      lines.set(server, line);
    }
    return line;
  }

  function tryEnter(server: string): boolean {
    const line = lineOf(server);
    if (running >= total || line.running >= perServer || line.waiting.length > 0) return false;
    running += 1;
    line.running += 1;
    return true;
  }

  function wait(server: string, call: WaitingCall): void {
    const { signal } = call;
    signal.throwIfAborted();
    const line = lineOf(server);
    if (line.waiting.length >= waitingPerServer)
      throw new HostError("busy", "Too many concurrent tool executions", { serverName: server });
    const shared = sharing.get(signal);
    if (shared === undefined) {
      signal.addEventListener("abort", cancelAll);
      sharing.set(signal, { waiting: 1 });
    } else shared.waiting += 1;
    line.waiting.push(call);
    waiting += 1;
  }

  /** Returns a function that runs `leave` once, even if it is called again. */
  function leaver(server: string): () => void {
    let isOver = false;
    return () => {
      if (!isOver) leave(server);
      isOver = true;
    };
  }

  return {
    tryEnter,
    wait,
    leave,
    async enter(server, signal) {
      signal.throwIfAborted();
      if (tryEnter(server)) return leaver(server);
      return new Promise((resolve, reject) => {
        wait(server, { signal, start: () => resolve(leaver(server)), cancel: () => reject(signal.reason) });
      });
    },
  };
}
