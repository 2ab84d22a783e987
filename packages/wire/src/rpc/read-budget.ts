/**
 * Limits how much of a server's output is read. The first limit is for each turn of the event loop, so that other
 * servers are read too. The second limit is a rate per second for output that answers no request. A server that stays
 * above this rate is flooding.
 */

import { WireError } from "../errors.ts";
import type { WireLimits, WireTimes } from "../target.ts";
import { systemTime, type TimeSource } from "./time-source.ts";

/** Kinds of output that answer no request, in the words of the error message. */
export type Unsolicited =
  | "stderr"
  | "blank lines on stdout"
  | "lines on stdout that are not messages"
  | "blank lines and comments in its event stream"
  | "events that are not messages"
  | "requests"
  | "notifications"
  | "responses to unknown requests";

/** The reading budget of one server, shared by all its pipes or streams. */
export interface ReadBudget {
  /** Counts bytes that were read in this turn of the event loop. */
  bytes(count: number): void;
  /** Counts lines that were handled in this turn of the event loop. */
  lines(count: number): void;
  /** Counts output that answers no request. */
  unsolicited(what: Unsolicited, bytes: number, lines?: number): void;
  /** Whether reading must pause until `whenRefilled` calls its callback. */
  isSpent(): boolean;
  /** Calls a function in the next turn of the event loop, or later if the server is above its rate. */
  whenRefilled(resume: () => void): void;
  isWaiting(): boolean;
  /** Lets all waiting readers continue at once. From then on, the limit per second does not apply. */
  stop(): void;
}

/** Options of `createReadBudget`. */
export interface ReadBudgetOptions {
  readonly limits: Pick<WireLimits, "turnBytes" | "turnLines" | "unsolicitedRate" | "unsolicitedBurst">;
  readonly times: Pick<WireTimes, "flood">;
  readonly time?: TimeSource | undefined;
  /** Called once when the server is flooding. */
  readonly onFlooding: (cause: WireError) => void;
}

/** A line counts as at least this many bytes, because handling a short line takes as long as copying so many bytes. */
export const lineCost = 1024;
/** A text that begins like JSON but is not JSON counts as this many lines, because a failed `JSON.parse` is slow. */
export const failedParseLines = 8;
/** A line that answers no request counts as this many lines, because it takes longer to handle. */
const unsolicitedWeight = 4;
/**
 * Shortest pause of a server that is above its rate, in milliseconds. Shorter pauses would cost more time than they
 * save.
 */
const shortestWait = 20;

export function createReadBudget(options: ReadBudgetOptions): ReadBudget {
  const { turnBytes, turnLines, unsolicitedRate, unsolicitedBurst } = options.limits;
  const { onFlooding, times, time = systemTime } = options;
  let bytesLeft = turnBytes;
  let linesLeft = turnLines;
  /**
   * Number of unrequested bytes that the server may still send before reading pauses. Negative while the server is
   * above its rate.
   */
  let allowance = unsolicitedBurst;
  let refilledAt = time.now();
  /** Milliseconds for which the server was paused, minus the milliseconds for which it was not. */
  let overRate = 0;
  let costs = new Map<Unsolicited, number>();
  let waiting: (() => void)[] = [];
  let cancelTimer: (() => void) | undefined;
  let immediate: NodeJS.Immediate | undefined;
  let isStopped = false;

  function refill(): void {
    const now = time.now();
    const passed = now - refilledAt;
    refilledAt = now;
    const wasOver = allowance < 0;
    overRate = Math.max(0, overRate + (wasOver ? passed : -passed));
    allowance = Math.min(unsolicitedBurst, allowance + (passed * unsolicitedRate) / 1000);
    if (overRate === 0 && costs.size > 0) costs = new Map();
  }

  function nextTurn(): void {
    immediate = undefined;
    cancelTimer = undefined;
    bytesLeft = turnBytes;
    linesLeft = turnLines;
    if (allowance < 0) refill();
    const resumed = waiting;
    waiting = [];
    for (const resume of resumed) resume();
  }

  /** Schedules the next read: in the next turn of the event loop, or when the server is below its rate again. */
  function plan(): void {
    if (immediate !== undefined || cancelTimer !== undefined) return;
    if (allowance >= 0 || isStopped) {
      immediate = setImmediate(nextTurn);
      return;
    }
    refill();
    if (overRate >= times.flood) {
      isStopped = true;
      onFlooding(floodingError(costs, unsolicitedRate, times.flood));
      immediate = setImmediate(nextTurn);
      return;
    }
    const needed = Math.ceil((-allowance * 1000) / unsolicitedRate);
    cancelTimer = time.after(Math.max(needed, shortestWait), nextTurn);
  }

  return {
    bytes(count) {
      bytesLeft -= count;
    },
    lines(count) {
      linesLeft -= count;
    },
    unsolicited(what, bytes, lines = 0) {
      linesLeft -= lines * (unsolicitedWeight - 1);
      if (isStopped) return;
      const cost = Math.max(bytes, lines * lineCost);
      if (allowance >= 0 && allowance < cost) refill();
      allowance -= cost;
      costs.set(what, (costs.get(what) ?? 0) + cost);
    },
    isSpent: () => bytesLeft <= 0 || linesLeft <= 0 || (allowance < 0 && !isStopped),
    whenRefilled(resume) {
      waiting.push(resume);
      plan();
    },
    isWaiting: () => waiting.length > 0,
    stop() {
      isStopped = true;
      if (cancelTimer === undefined) return;
      cancelTimer();
      cancelTimer = undefined;
      plan();
    },
  };
}

/** Returns the error, which names the kind of output that used most of the rate. */
function floodingError(costs: ReadonlyMap<Unsolicited, number>, rate: number, duration: number): WireError {
  const [[what] = ["notifications"]] = [...costs].sort(([, one], [, other]) => other - one);
  const most = what === "stderr" ? `${Math.round(rate / 1024)} kB` : Math.round(rate / lineCost).toLocaleString("en");
  const sent = what === "stderr" ? "wrote too much to stderr" : `sent too many ${what}`;
  return new WireError("flooding", `the server ${sent}: more than ${most} per second for ${duration / 1000} s`);
}
