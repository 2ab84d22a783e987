/**
 * Limits how many calls run at once, for each server and in total. Each server has a queue of waiting calls, and the
 * servers take turns.
 */

import { HostError } from "../errors.ts";

export interface CallQueueOptions {
  readonly perServer: number;
  readonly total: number;
  /** Maximum number of calls that may wait for one server. */
  readonly waitingPerServer: number;
}

export interface CallQueue {
  /**
   * Lets a call start, and returns a function that the caller must run when the call has ended. Returns undefined if
   * too many calls are running: then the call must not start.
   */
  tryEnter(server: string): (() => void) | undefined;
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
  readonly waiting: Set<Waiter>;
}

interface Waiter {
  readonly signal: AbortSignal;
  readonly go: () => void;
  readonly leave: () => void;
}

export function createCallQueue({ perServer, total, waitingPerServer }: CallQueueOptions): CallQueue {
  /** The queues by server. The server whose turn is next comes first. A server without calls has no queue. */
  const lines = new Map<string, Line>();
  let running = 0;
  /** The number of waiting calls of all servers together. */
  let waiting = 0;
  /**
   * For each abort signal, the number of waiting calls that it can cancel. These calls share one listener, because
   * adding a listener to a signal with many listeners is slow.
   */
  const signals = new Map<AbortSignal, number>();

  function begin(server: string, line: Line): () => void {
    running += 1;
    line.running += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      running -= 1;
      line.running -= 1;
      if (line.running === 0 && line.waiting.size === 0) lines.delete(server);
      callNext();
    };
  }

  function callNext(): void {
    while (waiting > 0 && running < total) {
      const next = nextInTurn();
      if (next === undefined) return;
      const [server, line, waiter] = next;
      // Moves this server to the end of the map, so that the other servers come first.
      lines.delete(server);
      lines.set(server, line);
      leaveLine(line, waiter);
      waiter.go();
    }
  }

  function leaveLine(line: Line, waiter: Waiter): void {
    const { signal } = waiter;
    line.waiting.delete(waiter);
    waiting -= 1;
    const sharing = (signals.get(signal) ?? 0) - 1;
    if (sharing > 0) signals.set(signal, sharing);
    else if (signals.delete(signal)) signal.removeEventListener("abort", leaveAll);
  }

  function nextInTurn(): [string, Line, Waiter] | undefined {
    for (const [server, line] of lines) {
      if (line.running >= perServer) continue;
      for (const first of line.waiting) return [server, line, first];
    }
    return undefined;
  }

  function wait(server: string, line: Line, signal: AbortSignal): Promise<() => void> {
    const sharing = signals.get(signal) ?? 0;
    if (sharing === 0) signal.addEventListener("abort", leaveAll);
    signals.set(signal, sharing + 1);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        signal,
        go: () => resolve(begin(server, line)),
        leave() {
          leaveLine(line, waiter);
          if (line.running === 0 && line.waiting.size === 0) lines.delete(server);
          reject(signal.reason);
        },
      };
      line.waiting.add(waiter);
      waiting += 1;
    });
  }

  function leaveAll({ target: signal }: Event): void {
    for (const line of lines.values()) for (const waiter of line.waiting) if (waiter.signal === signal) waiter.leave();
  }

  function lineOf(server: string): Line {
    let line = lines.get(server);
    if (line === undefined) {
      line = { running: 0, waiting: new Set() };
      lines.set(server, line);
    }
    return line;
  }

  function tryEnter(server: string): (() => void) | undefined {
    const line = lineOf(server);
    return running < total && line.running < perServer && line.waiting.size === 0 ? begin(server, line) : undefined;
  }

  return {
    tryEnter,
    async enter(server, signal) {
      signal.throwIfAborted();
      const begun = tryEnter(server);
      if (begun) return begun;
      const line = lineOf(server);
      if (line.waiting.size >= waitingPerServer)
        throw new HostError("busy", "Too many concurrent tool executions", { serverName: server });
      return wait(server, line, signal);
    },
  };
}
