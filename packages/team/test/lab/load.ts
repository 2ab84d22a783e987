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

/** CPU of the same gateway with and without intents and rows, in rounds that take turns. The lab has one replica of each. */
export async function compareCost(lab: Lab, { rounds = 9, calls = 1000 } = {}): Promise<readonly Bar[]> {
  const loads = lab.replicas.map((replica) => ({
    replica,
    load: lab.callers(64, { replicas: [replica] }),
    costs: [] as number[],
  }));
  try {
    // The first rounds compile the code and connect the hosts of the users.
    for (let round = -2; round < rounds; round += 1)
      for (const { replica, load, costs } of round % 2 === 0 ? loads : loads.toReversed()) {
        const before = cpuOf(replica.pid);
        load.start(calls);
        await load.finished();
        if (round >= 0) costs.push((1000 * (cpuOf(replica.pid) - before)) / calls);
      }
  } finally {
    for (const { load } of loads) await load[Symbol.asyncDispose]();
  }
  const [withStore = [], without = []] = loads.map(({ costs }) => costs);
  const ratio = middle(withStore.map((cost, at) => cost / (without[at] ?? cost)));
  const measured = `${ratio.toFixed(2)} × (${middle(withStore).toFixed(0)} and ${middle(without).toFixed(0)} µs a call, 64 callers)`;
  return [
    { title: "CPU of a call with the store", limit: "≤ 1.35 × without", measured, isMet: ratio <= 1.35, isTime: true },
  ];
}

/** Memory of one replica while many users call. */
export async function watchMemory(lab: Lab, { calls = 100_000, steps = 10 } = {}): Promise<readonly Bar[]> {
  const [replica] = lab.replicas;
  if (replica === undefined) throw new Error("the lab has no replica");
  await using load = lab.callers(32);
  const sizes: number[] = [];
  for (let step = 0; step < steps; step += 1) {
    load.start(calls / steps);
    await load.finished();
    sizes.push(megabytesOf(replica.pid));
  }
  const failed = load.book.filter(({ outcome }) => outcome !== "done").length;
  // After a fifth of the calls every user has a host, and the code is compiled.
  const steady = sizes.slice(Math.floor(steps / 5));
  const mean = steady.reduce((sum, size) => sum + size, 0) / steady.length;
  const spread = Math.max(...steady.map((size) => Math.abs(size / mean - 1)));
  const measured = `± ${(100 * spread).toFixed(0)} % around ${mean.toFixed(0)} MB (${sizes.map((size) => size.toFixed(0)).join(", ")})`;
  const title = `memory over ${calls} calls of ${lab.tokens.length} users`;
  return [
    bar(title, "0 failed", `${failed} failed`, failed === 0),
    { title: "  after the first fifth", limit: "flat, ± 10 %", measured, isMet: spread <= 0.1, isTime: true },
  ];
}

function megabytesOf(pid: number): number {
  const [, kilobytes = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

function middle(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
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
