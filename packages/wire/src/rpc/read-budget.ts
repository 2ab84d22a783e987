/**
 * Limits how much output Fairlead reads from one server. A limit for each turn of the event loop lets other servers
 * take their turn. A limit per second applies to output that answers no request. A server that stays above it is
 * "flooding".
 */

import { WireError } from "../errors.ts";
import type { WireLimits, WireTimes } from "../target.ts";
import { LargeMessages } from "./large-messages.ts";
import { systemTime, type TimeSource } from "./time.ts";

/** Kinds of output that answer no request. The error message for flooding contains these words. */
export type Unsolicited =
  | "stderr"
  | "blank lines on stdout"
  | "lines on stdout that are not messages"
  | "blank lines and comments in its event stream"
  | "events that are not messages"
  | "requests"
  | "notifications"
  | "responses to unknown requests";

/** Counts what one server sends on all its pipes or streams, and says when reading must pause. */
export interface ReadBudget {
  /** Counts bytes that were read in this turn of the event loop. */
  bytes(count: number): void;
  /** Counts lines that were handled in this turn of the event loop. */
  lines(count: number): void;
  /** Counts output that answers no request, for the limit per second. */
  unsolicited(what: Unsolicited, bytes: number, lines?: number): void;
  /** Whether reading must pause until `whenRefilled` calls its callback. */
  isSpent(): boolean;
  /**
   * Calls `resume` in the next turn of the event loop. If the server is above the limit per second, waits until it is
   * below the limit.
   */
  whenRefilled(resume: () => void): void;
  isWaiting(): boolean;
  /** Ends the limit per second, and lets all waiting readers continue. */
  stop(): void;
  /** The limit for large messages, which this server may share with others. */
  readonly largeMessages: LargeMessages;
}

export interface ReadBudgetOptions {
  readonly limits: Pick<WireLimits, "turnBytes" | "turnLines" | "unsolicitedRate" | "unsolicitedBurst">;
  readonly times: Pick<WireTimes, "flood">;
  readonly time?: TimeSource | undefined;
  /** Default: the server shares its limit with no other server. */
  readonly largeMessages?: LargeMessages | undefined;
  /** Called once, when the server has been above the limit per second for `times.flood` milliseconds. */
  readonly onFlooding: (cause: WireError) => void;
}

/** A line counts as at least this many bytes, because each line costs time, however short it is. */
export const lineCost = 1024;
/** A text that is not JSON counts as this many lines, because a failed `JSON.parse` is slow. */
export const failedParseLines = 8;
/** A line that answers no request counts as this many lines, because handling it takes longer. */
const unsolicitedWeight = 4;
/** Shortest pause in reading, in milliseconds. Many shorter pauses would cost more time than they save. */
const shortestWait = 20;

/** Creates the budget of one server. Nothing has been counted yet. */
export function createReadBudget(options: ReadBudgetOptions): ReadBudget {
  const { turnBytes, turnLines, unsolicitedRate, unsolicitedBurst } = options.limits;
  const { onFlooding, times, time = systemTime, largeMessages = new LargeMessages({ time }) } = options;
  let bytesLeft = turnBytes;
  let linesLeft = turnLines;
  /** How many unrequested bytes the server may still send before reading pauses. Negative during such a pause. */
  let allowance = unsolicitedBurst;
  let refilledAt = time.now();
  /** How long the server has been above the limit per second, in milliseconds. Time below the limit is subtracted. */
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

  /** Schedules when reading goes on. Reports flooding if the server has been above the limit for too long. */
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
    largeMessages,
  };
}

/** Returns an error with the kind of output that the server sent most. */
function floodingError(costs: ReadonlyMap<Unsolicited, number>, rate: number, duration: number): WireError {
  const [[what] = ["notifications"]] = [...costs].sort(([, one], [, other]) => other - one);
  const most = what === "stderr" ? `${Math.round(rate / 1024)} kB` : Math.round(rate / lineCost).toLocaleString("en");
  const sent = what === "stderr" ? "wrote too much to stderr" : `sent too many ${what}`;
  return new WireError("flooding", `the server ${sent}: more than ${most} per second for ${duration / 1000} s`);
}
