/**
 * Promises that hold however hostile the world is, as figures: each is tried many times with random input, and a run of
 * `npm run chaos` collects what came of it. In `npm test` the same code runs with fewer tries.
 */

import { appendFileSync } from "node:fs";
import { scaled, seed } from "./scale.ts";

/** The variable with the file in which `npm run chaos` collects the rows. */
const rowsVariable = "FAIRLEAD_CHAOS_ROWS";
/** The variable with the number of tries of a run that replays a failure. */
const triesVariable = "FAIRLEAD_CHAOS_TRIES";

/** Returns a whole number from 0 to below `below`. */
export type Random = (below: number) => number;

/** The same seed gives the same numbers. */
export function randomFrom(start: number): Random {
  let state = start >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export interface PromiseRow {
  /** The word after `--only`. */
  readonly group: string;
  /** What is promised, in one sentence. */
  readonly promise: string;
  readonly tries: number;
  readonly failures: number;
  /** The load under which the promise was tried. */
  readonly load: string;
}

/** Prints a row, and hands it to `npm run chaos`. A test calls this after its last check. */
export function notePromise(row: PromiseRow): void {
  process.stderr.write(`${row.promise}: ${row.tries} tries, ${row.failures} failures (${row.load})\n`);
  const file = process.env[rowsVariable];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`);
}

export interface Promised {
  readonly group: string;
  readonly promise: string;
  /** How many tries in `npm run chaos`, and in `npm test`. */
  readonly whole: number;
  readonly part: number;
  /** How many tries run at the same time. Default: 1. */
  readonly together?: number;
  /** The load that was held. Called after the last try. */
  readonly load: () => string;
}

/**
 * Tries a promise. Each try has its own seed, so that a failure can be replayed alone. All tries run, also after a
 * failure.
 * @throws after the last try, with the first failures and the commands that replay them
 */
export async function keepsPromise(
  { group, promise, whole, part, together = 1, load }: Promised,
  attempt: (random: Random, seed: number) => Promise<void>,
): Promise<void> {
  const first = seed();
  const count = Number(process.env[triesVariable] ?? scaled(whole, part));
  const failures: string[] = [];
  process.stderr.write(`${group}: seed ${first}\n`);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const at = next;
      next += 1;
      try {
        await attempt(randomFrom(first + at), first + at);
      } catch (error) {
        const why = describe(error);
        failures.push(`npm run chaos -- --only ${group} --seed ${first + at} --tries 1\n${why}`);
      }
    }
  };
  await Promise.all(Array.from({ length: together }, worker));
  notePromise({ group, promise, tries: count, failures: failures.length, load: load() });
  if (failures.length > 0)
    throw new Error(`${promise}: ${failures.length} of ${count} failed\n${failures.slice(0, 5).join("\n\n")}`);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by ${describe(error.cause)}`;
}
