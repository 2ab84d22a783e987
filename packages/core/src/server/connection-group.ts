/**
 * What the connections of one host share: how many programs start at a time, whether all have been tried, and the check
 * after the machine slept.
 */

import { type Clock, systemClock } from "../clock.ts";
import { MCPDiscoveryState } from "../events.ts";
import type { Connection } from "./connection.ts";

/** Options of `ConnectionGroup`. */
export interface ConnectionGroupOptions {
  /** How many programs may start at the same time, because a start needs much CPU time. Default: 4. */
  readonly startLimit?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** The wall clock, in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
  readonly onDiscovery?: (state: MCPDiscoveryState) => void;
}

/** After the machine wakes, each connection is checked at a random moment within this many milliseconds. */
const wakingTime = 5000;

/** Connections that live side by side. A failed server does not affect the others. */
export class ConnectionGroup {
  readonly startLimit: StartLimit;
  readonly now: () => number;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #onDiscovery: (state: MCPDiscoveryState) => void;
  readonly #connections = new Set<Connection>();
  #discovery: MCPDiscoveryState = MCPDiscoveryState.NOT_STARTED;
  #discoveriesUnderWay = 0;
  #stopWatching: (() => void) | undefined;
  #isClosed = false;

  constructor(options: ConnectionGroupOptions = {}) {
    const {
      startLimit = 4,
      clock = systemClock,
      random = Math.random,
      now = Date.now,
      onDiscovery = () => {},
    } = options;
    this.#onDiscovery = onDiscovery;
    this.startLimit = new StartLimit(startLimit, clock);
    this.now = now;
    this.#clock = clock;
    this.#random = random;
  }

  /** If true, no connection can be started any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get discoveryState(): MCPDiscoveryState {
    return this.#discovery;
  }

  /** Runs these starts side by side. Resolves when each server is connected or has failed; its state says which. */
  async discover(starts: readonly (() => Promise<unknown>)[]): Promise<void> {
    this.#discoveriesUnderWay += 1;
    this.#setDiscovery(MCPDiscoveryState.IN_PROGRESS);
    await Promise.allSettled(starts.map((start) => start()));
    this.#discoveriesUnderWay -= 1;
    if (this.#discoveriesUnderWay === 0) this.#setDiscovery(MCPDiscoveryState.COMPLETED);
  }

  #setDiscovery(state: MCPDiscoveryState): void {
    if (state === this.#discovery) return;
    this.#discovery = state;
    this.#onDiscovery(state);
  }

  add(connection: Connection): void {
    this.#connections.add(connection);
  }

  remove(connection: Connection): void {
    this.#connections.delete(connection);
    if (this.#connections.size === 0) this.rest();
  }

  /** Checks all network connections each time the machine wakes from sleep. Runs until `close` is called. */
  watchForSleep(): void {
    this.#stopWatching ??= watchForSleep(this.#clock, this.now, () => {
      for (const connection of this.#connections) this.#checkLater(connection);
    });
  }

  /** Stops the watch until a connection is started again. */
  rest(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.rest();
    await Promise.all([...this.#connections].map((connection) => connection.close()));
  }

  /** Checks a network connection, which may have ended unnoticed while the machine slept. */
  #checkLater(connection: Connection): void {
    const { state } = connection;
    const isRemote =
      state.status === "connected" && (state.peer.transport === "http" || state.peer.transport === "sse");
    if (isRemote) this.#clock.after(this.#random() * wakingTime, () => void connection.check(), { background: true });
  }
}

const step = 10_000;
const noticed = 30_000;

/**
 * Calls `onWake` after the machine slept or the process was suspended: the wall clock `now` has then advanced more than
 * the timers, because `clock` stands still while the machine sleeps. Returns a function that stops the watch.
 */
export function watchForSleep(clock: Clock, now: () => number, onWake: () => void): () => void {
  let last = now();
  let cancelTimer = clock.after(step, look, { background: true });

  function look(): void {
    const time = now();
    const isAwakeAgain = time - last > noticed;
    last = time;
    cancelTimer = clock.after(step, look, { background: true });
    if (isAwakeAgain) onWake();
  }

  return () => cancelTimer();
}

/** If a program takes longer than this to start (in milliseconds), it probably waits, and the next one may start too. */
const slotTimeout = 2000;

/** Makes programs wait if too many are starting. */
export class StartLimit {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(limit: number, clock: Clock) {
    this.#free = limit;
    this.#clock = clock;
  }

  /**
   * Waits until a program may start. Resolves with a function to call when the program has started. Rejects with the
   * signal's reason.
   */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) return this.#take();
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        this.#waiting.delete(admit);
        signal.removeEventListener("abort", abort);
        resolve(this.#take());
      };
      const abort = (): void => {
        this.#waiting.delete(admit);
        reject(signal.reason);
      };
      this.#waiting.add(admit);
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  #take(): () => void {
    this.#free -= 1;
    let isHeld = true;
    const leave = (): void => {
      if (!isHeld) return;
      isHeld = false;
      cancelTimer();
      this.#free += 1;
      const [admitNext] = this.#waiting;
      admitNext?.();
    };
    const cancelTimer = this.#clock.after(slotTimeout, leave);
    return leave;
  }
}
