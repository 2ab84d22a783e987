/** What calls cost: time and CPU. */

import { readdirSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { type Bar, bar, reasons } from "./bars.ts";
import type { CallRecord } from "./callers.ts";
import type { Lab } from "./lab.ts";

/** What the simulation says of a run. */
export type Simulate = (options: object) => {
  readonly callsPerSecond: number;
  readonly whole: Readonly<Record<"median" | "p95" | "p99", number>>;
};

/** Calls a second and latency of four replicas that share this machine with PostgreSQL, the server and the callers. */
export async function measureLoad(
  lab: Lab,
  { simulate, callers = 32, calls = 4000 }: { simulate: Simulate; callers?: number; calls?: number },
): Promise<readonly Bar[]> {
  await using load = lab.callers(callers);
  // The first calls compile the code and connect the hosts of the users.
  load.start(calls);
  await load.finished();
  const pids = [...lab.replicas.map(({ pid }) => pid), lab.upstreamPid, process.pid];
  const before = pids.map(timesOf);
  const begin = performance.now();
  load.start(calls);
  await load.finished();
  const seconds = (performance.now() - begin) / 1000;
  const spent = pids.map((pid, at) => {
    const { cpu, waited } = timesOf(pid);
    return { cpu: (cpu - (before[at]?.cpu ?? 0)) / calls, waited: (waited - (before[at]?.waited ?? 0)) / calls };
  });
  const sum = (parts: typeof spent, key: "cpu" | "waited"): number => parts.reduce((all, each) => all + each[key], 0);
  const [replicas, others] = [spent.slice(0, lab.replicas.length), spent.slice(lab.replicas.length)];
  const [ofReplicas, ofOthers] = [sum(replicas, "cpu"), sum(others, "cpu")];
  // On a busy machine a thread waits for a processor longer than it uses one.
  const slower = 1 + sum(spent, "waited") / sum(spent, "cpu");
  const records = load.book.slice(calls);
  const { median, p95, p99 } = latencies(records);
  const failed = records.filter(({ outcome }) => outcome !== "done").length;
  const disk = await commitTime();
  const simulated = simulate({
    replicas: lab.replicas.length,
    callers,
    // The cost of batches is part of the measured one.
    callCpu: slower * Math.max(0.1, ofReplicas - 2 * (0.25 + 0.015)),
    batchCpu: slower * 0.25,
    entryCpu: slower * 0.015,
    otherCpu: slower * ofOthers,
    engineBatchCpu: slower * 0.25,
    engineEntryCpu: slower * 0.03,
    engineCores: 32,
    upstream: [5, 0.05],
    disk: [disk, 0.5],
    seconds: 20,
  });
  const { whole, callsPerSecond } = simulated;
  const title = `${callers} callers on ${lab.replicas.length} replicas`;
  const costWords = `CPU a call: ${(1000 * ofReplicas).toFixed(0)} µs replicas, ${(1000 * ofOthers).toFixed(0)} µs callers and server; disk ${disk.toFixed(1)} ms; everything ${slower.toFixed(1)} times slower, because others use the processors`;
  return [
    bar(title, "0 failed", `${failed} failed; ${costWords}`, failed === 0),
    bar(
      "  measured",
      "p50 / p95 / p99",
      `${(calls / seconds).toFixed(0)} calls/s, ${median} / ${p95} / ${p99} ms`,
      true,
    ),
    bar(
      "  simulated",
      "p50 / p95 / p99",
      `${callsPerSecond.toFixed(0)} calls/s, ${whole.median.toFixed(1)} / ${whole.p95.toFixed(1)} / ${whole.p99.toFixed(1)} ms`,
      true,
    ),
    bar("  load average of the machine", "1 minute", (loadavg()[0] ?? 0).toFixed(1), true),
  ];
}

/** Milliseconds in which the disk takes 8 kB for good, in the middle. */
async function commitTime(): Promise<number> {
  await using folder = await temporaryFolder();
  const file = await open(join(folder.path, "commits"), "w");
  const times: number[] = [];
  try {
    for (let count = 0; count < 50; count += 1) {
      const begin = performance.now();
      await file.write(Buffer.alloc(8192, count));
      await file.datasync();
      times.push(performance.now() - begin);
    }
  } finally {
    await file.close();
  }
  return middle(times);
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
export async function watchMemory(
  lab: Lab,
  { calls = 100_000, steps = 10, print }: { calls?: number; steps?: number; print: (line: string) => void },
): Promise<readonly Bar[]> {
  const [replica] = lab.replicas;
  if (replica === undefined) throw new Error("the lab has no replica");
  await using load = lab.callers(32);
  const sizes: number[] = [];
  for (let step = 0; step < steps; step += 1) {
    load.start(calls / steps);
    await load.finished();
    const size = megabytesOf(replica.pid);
    sizes.push(size);
    print(`         ${load.book.length} calls: ${size.toFixed(0)} MB`);
  }
  const failed = load.book.filter(({ outcome }) => outcome !== "done");
  // After a fifth of the calls every user has a host, and the code is compiled.
  const steady = sizes.slice(Math.floor(steps / 5));
  const mean = steady.reduce((sum, size) => sum + size, 0) / steady.length;
  const spread = Math.max(...steady.map((size) => Math.abs(size / mean - 1)));
  const measured = `± ${(100 * spread).toFixed(0)} % around ${mean.toFixed(0)} MB (${sizes.map((size) => size.toFixed(0)).join(", ")})`;
  const title = `memory over ${calls} calls of ${lab.tokens.length} users`;
  return [
    bar(title, "0 failed", `${failed.length} failed${reasons(failed)}`, failed.length === 0),
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
  return timesOf(pid).cpu;
}

/** The milliseconds for which the threads of a process have used a processor, and for which they have waited for one. */
function timesOf(pid: number): { readonly cpu: number; readonly waited: number } {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) =>
    threadTimes(`/proc/${pid}/task/${thread}/schedstat`),
  );
  const sum = (at: number): number => threads.reduce((all, times) => all + (times[at] ?? 0), 0) / 1e6;
  return { cpu: sum(0), waited: sum(1) };
}

function threadTimes(file: string): readonly number[] {
  try {
    return readFileSync(file, "latin1").split(" ").map(Number);
  } catch {
    // The thread has ended.
    return [];
  }
}
