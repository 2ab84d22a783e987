/** What calls cost: time and CPU. */

import { readdirSync, readFileSync } from "node:fs";
import { type Bar, bar } from "./bars.ts";
import type { CallRecord } from "./callers.ts";
import type { Lab } from "./lab.ts";

/** Calls a second and latency of four replicas that share this machine with PostgreSQL, the server and the callers. */
export async function measureLoad(lab: Lab, { callers = 32, calls = 3000 } = {}): Promise<readonly Bar[]> {
  await using load = lab.callers(callers);
  load.start(1000);
  await load.finished();
  const warm = load.book.length;
  const cpuBefore = lab.replicas.map(({ pid }) => cpuOf(pid));
  const begin = performance.now();
  load.start(calls);
  await load.finished();
  const seconds = (performance.now() - begin) / 1000;
  const cpu = lab.replicas.reduce((sum, { pid }, at) => sum + cpuOf(pid) - (cpuBefore[at] ?? 0), 0);
  const records = load.book.slice(warm);
  const { median, p95, p99 } = latencies(records);
  const measured = `${(calls / seconds).toFixed(0)} calls/s, ${median} / ${p95} / ${p99} ms, ${((1000 * cpu) / calls).toFixed(0)} µs of CPU a call`;
  const failed = records.filter(({ outcome }) => outcome !== "done").length;
  return [
    bar(`${callers} callers on ${lab.replicas.length} replicas`, "0 failed; p50 / p95 / p99", measured, failed === 0),
  ];
}

export function latencies(records: readonly CallRecord[]): Readonly<Record<"median" | "p95" | "p99", string>> {
  const sorted = records.map(({ begun, ended }) => ended - begun).toSorted((one, other) => one - other);
  const at = (share: number): string => (sorted[Math.floor(share * sorted.length)] ?? 0).toFixed(1);
  return { median: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** CPU milliseconds of a process so far, by the scheduler's clock of each thread. */
export function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => sum + threadTime(`/proc/${pid}/task/${thread}/schedstat`), 0);
}

function threadTime(file: string): number {
  try {
    return Number(readFileSync(file, "latin1").split(" ")[0]) / 1e6;
  } catch {
    // The thread has ended.
    return 0;
  }
}
