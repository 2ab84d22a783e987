/** The bars of the team gateway: what is done to a lab, and what must hold. `bench/team.mjs` runs them whole, tests a tenth. */

import type { Comparison } from "./books.ts";
import type { Callers, CallRecord } from "./callers.ts";
import type { Lab } from "./lab.ts";
import type { Replica } from "./replica.ts";

/** A line of the table. */
export interface Bar {
  readonly title: string;
  readonly limit: string;
  readonly measured: string;
  readonly isMet: boolean;
  /** Whether it depends on how fast this machine is just now. Tests leave it out. */
  readonly isTime?: boolean;
}

/** Replicas are killed under load, one after the other, and started again. */
export async function killReplicas(
  lab: Lab,
  { times, callers = 32 }: { times: number; callers?: number },
): Promise<readonly Bar[]> {
  await using load = lab.callers(callers);
  load.start();
  const kills: { readonly replica: Replica; readonly at: number; readonly gone: number }[] = [];
  for (let count = 0; count < times; count += 1) {
    await calls(load, 200);
    const replica = lab.replicas[count % lab.replicas.length];
    if (replica === undefined) throw new Error("the lab has no replicas");
    const at = performance.now();
    await replica.end("SIGKILL");
    kills.push({ replica, at, gone: performance.now() });
    // Each caller has called again before the replica is back.
    await calls(load, 4 * callers);
    await replica.start();
    await ready(lab.replicas);
  }
  await load.stop();
  const books = await lab.compare(load);
  const isOfKilled = (record: CallRecord): boolean =>
    kills.some(({ replica, at, gone }) => replica === record.replica && record.begun <= gone && record.ended >= at);
  const failed = load.book.filter(({ outcome }) => outcome !== "done");
  const others = failed.filter((record) => !isOfKilled(record));
  const waits = failed
    .map((record) => nextSuccess(load.book, record) - record.ended)
    .toSorted((one, other) => one - other);
  const title = `kill -9 of one of ${lab.replicas.length} under load, ${times} times`;
  return [
    bookBar(title, books),
    bar("  other callers", "0 errors", `${others.length} errors${reasons(others)}`, others.length === 0),
    {
      title: "  callers of the killed one succeed again",
      limit: "< 2 s",
      measured: `${seconds(Math.max(0, ...waits))} s the slowest, ${seconds(waits[waits.length >> 1] ?? 0)} s the median of ${waits.length}`,
      isMet: Math.max(0, ...waits) < 2000,
      isTime: true,
    },
  ];
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(2);
}

/** All replicas end by SIGTERM and start again, one after the other, under load. */
export async function restartAll(lab: Lab, { callers = 32 } = {}): Promise<readonly Bar[]> {
  await using load = lab.callers(callers);
  load.start();
  const codes: (number | null)[] = [];
  for (const replica of lab.replicas) {
    await calls(load, 200);
    codes.push(await replica.end("SIGTERM"));
    await replica.start();
    await ready(lab.replicas);
  }
  await calls(load, 100);
  await load.stop();
  const books = await lab.compare(load);
  const failed = books.refused + books.lost;
  const title = `rolling restart of all ${lab.replicas.length} under load`;
  return [
    bar(
      title,
      "0 failed calls, exit code 0",
      `${failed} failed of ${load.book.length}; ${codes.join(", ")}`,
      failed === 0 && codes.every((code) => code === 0),
    ),
    bookBar("  its books", books),
  ];
}

/** PostgreSQL is killed, is away for a while, and recovers, under load that does not look at readiness. */
export async function stopPostgres(
  lab: Lab,
  { milliseconds, mode, callers = 32 }: { milliseconds: number; mode: "closed" | "spool"; callers?: number },
): Promise<readonly Bar[]> {
  await using load = lab.callers(callers, { toAll: true });
  load.start();
  await calls(load, 200);
  await lab.postgres.stop("immediate");
  await pause(milliseconds);
  await lab.postgres.start();
  const back = performance.now();
  await ready(lab.replicas);
  const readyAfter = performance.now() - back;
  await done(load, 100);
  await load.stop();
  // What waits in the spools is stored within seconds.
  for (const replica of lab.replicas) while ((await replica.readiness())?.spoolRows !== 0) await pause(50);
  const books = await lab.compare(load);
  const title = `PostgreSQL away for ${milliseconds / 1000} s, ${mode}`;
  const { refused, refusedButExecuted } = books;
  const executed = load.book.filter(({ id }) => books.refusedIds.has(id));
  return [
    bookBar(title, books),
    mode === "closed"
      ? bar(
          "  executed after a refusal",
          "0",
          `${refusedButExecuted} of ${refused} refused${reasons(executed)}`,
          refusedButExecuted === 0,
        )
      : bar("  went on, refused", "0 refused", `${refused} refused, ${books.done} done`, refused === 0),
    {
      title: "  all replicas ready again",
      limit: "< 3 s",
      measured: `${(readyAfter / 1000).toFixed(2)} s`,
      isMet: readyAfter < 3000,
      isTime: true,
    },
  ];
}

/** The answers of calls that were not done, with their counts. */
export function reasons(records: readonly CallRecord[]): string {
  const counts = new Map<string, number>();
  for (const { why } of records) counts.set(why, (counts.get(why) ?? 0) + 1);
  return [...counts].map(([why, count]) => `; ${count} × ${why.slice(0, 160)}`).join("");
}

/** A comparison as a bar. What was done must have its row, and what was executed at least its intent. */
function bookBar(title: string, books: Comparison): Bar {
  const {
    done: ended,
    doneWithoutRow,
    executedUnseen,
    executedTwice,
    rowsTwice,
    lost,
    doubtful,
    refusedButExecuted,
  } = books;
  const isMet = doneWithoutRow + executedUnseen + executedTwice + rowsTwice + refusedButExecuted === 0;
  const measured = `${ended} done, ${doneWithoutRow} without a row, ${executedUnseen} executed unseen, ${executedTwice + rowsTwice} duplicates; ${lost} unknown to the client, ${doubtful} intents without end`;
  return bar(title, "0 without a row, 0 unseen, 0 duplicates", measured, isMet);
}

export function bar(title: string, limit: string, measured: string, isMet: boolean): Bar {
  return { title, limit, measured, isMet };
}

/** Resolves when all replicas say that they are ready. */
export async function ready(replicas: readonly Replica[]): Promise<void> {
  for (const replica of replicas) while ((await replica.readiness())?.isReady !== true) await pause(50);
}

/** Resolves after so many more calls. */
async function calls(load: Callers, count: number): Promise<void> {
  const goal = load.book.length + count;
  while (load.book.length < goal) await pause(20);
}

/** Resolves after so many more calls that were done. */
async function done(load: Callers, count: number): Promise<void> {
  const isDone = (): number => load.book.filter(({ outcome }) => outcome === "done").length;
  const goal = isDone() + count;
  while (isDone() < goal) await pause(50);
}

function nextSuccess(book: readonly CallRecord[], { caller, ended }: CallRecord): number {
  const next = book.find((record) => record.caller === caller && record.begun >= ended && record.outcome === "done");
  return next?.ended ?? Number.POSITIVE_INFINITY;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
