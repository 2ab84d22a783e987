/**
 * Limits how many calls run at once, per server and in total. Waiting calls queue per server, and the servers take
 * turns.
 */

import { HostError } from "../errors.ts";

export interface CallQueueOptions {
  readonly perServer: number;
  readonly total: number;
  /** Maximum number of calls that may wait for one server. */
  readonly waitingPerServer: number;
}

export interface CallQueue {
  /** Takes a free slot at once and returns the function that frees it; undefined if there is none. */
  tryEnter(server: string): (() => void) | undefined;
  /**
   * Waits for a free slot and resolves with the function that frees it.
   *
   * @throws HostError `busy` if too many calls wait; else the reason of `signal`
   */
  enter(server: string, signal: AbortSignal): Promise<() => void>;
}

interface Line {
  readonly server: string;
  running: number;
  /** The waiting calls, in the order of arrival. */
  readonly waiting: Set<Waiter>;
}

/** A signal with which calls wait. They share one listener: adding one takes longer the more a signal has. */
interface SharedSignal {
  readonly signal: AbortSignal;
  waiting: number;
}

interface Waiter {
  readonly line: Line;
  readonly shared: SharedSignal;
  readonly resolve: (leave: () => void) => void;
  readonly reject: (reason: unknown) => void;
}

export function createCallQueue({ perServer, total, waitingPerServer }: CallQueueOptions): CallQueue {
  /** The server whose turn is next comes first. A server without calls is not in the map. */
  const lines = new Map<string, Line>();
  let running = 0;
  /** The number of calls that wait, of all servers. */
  let waiting = 0;
  const signals = new Map<AbortSignal, SharedSignal>();

  function begin(line: Line): () => void {
    running += 1;
    line.running += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      running -= 1;
      line.running -= 1;
      forget(line);
      if (waiting > 0) callNext();
    };
  }

  function forget(line: Line): void {
    if (line.running === 0 && line.waiting.size === 0) lines.delete(line.server);
  }

  function callNext(): void {
    while (waiting > 0 && running < total) {
      const next = nextInTurn();
      if (next === undefined) return;
      const { line } = next;
      if (lines.size > 1) {
        // Moved to the end: all other servers have a turn before this one has another.
        lines.delete(line.server);
        lines.set(line.server, line);
      }
      leaveLine(next);
      next.resolve(begin(line));
    }
  }

  function leaveLine(waiter: Waiter): void {
    const { line, shared } = waiter;
    line.waiting.delete(waiter);
    waiting -= 1;
    shared.waiting -= 1;
    if (shared.waiting > 0) return;
    signals.delete(shared.signal);
    shared.signal.removeEventListener("abort", leaveAll);
  }

  function nextInTurn(): Waiter | undefined {
    for (const line of lines.values()) {
      if (line.running >= perServer) continue;
      for (const first of line.waiting) return first;
    }
    return undefined;
  }

  function sharedSignal(signal: AbortSignal): SharedSignal {
    let shared = signals.get(signal);
    if (shared === undefined) {
      shared = { signal, waiting: 0 };
      signals.set(signal, shared);
      signal.addEventListener("abort", leaveAll);
    }
    return shared;
  }

  function wait(line: Line, signal: AbortSignal): Promise<() => void> {
    const shared = sharedSignal(signal);
    return new Promise((resolve, reject) => {
      line.waiting.add({ line, shared, resolve, reject });
      shared.waiting += 1;
      waiting += 1;
    });
  }

  function leaveAll({ target: signal }: Event): void {
    for (const line of lines.values())
      for (const waiter of line.waiting) {
        if (waiter.shared.signal !== signal) continue;
        leaveLine(waiter);
        forget(line);
        waiter.reject(waiter.shared.signal.reason);
      }
  }

  function lineOf(server: string): Line {
    let line = lines.get(server);
    if (line === undefined) {
      line = { server, running: 0, waiting: new Set() };
      lines.set(server, line);
    }
    return line;
  }

  function tryEnter(server: string): (() => void) | undefined {
    const line = lineOf(server);
    return running < total && line.running < perServer && line.waiting.size === 0 ? begin(line) : undefined;
  }

  return {
    tryEnter,
    // Not `async`: the promise of a call that waits is returned as it is.
    enter(server, signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      const begun = tryEnter(server);
      if (begun) return Promise.resolve(begun);
      const line = lineOf(server);
      if (line.waiting.size >= waitingPerServer)
        return Promise.reject(new HostError("busy", "Too many concurrent tool executions", { serverName: server }));
      return wait(line, signal);
    },
  };
}
