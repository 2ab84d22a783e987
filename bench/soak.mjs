// A host under constant load: 1 000 calls a second for ten minutes, half over stdio and half over HTTP. Memory and descriptors must stay flat.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { open } from "./drivers/fairlead.mjs";
import { median, sampleEnvironment, startHttpServers, stdioServers } from "./samples.mjs";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");
const callsPerSecond = 1_000;
/** Maximum number of open calls. A host that cannot keep up is called less often. */
const mostInFlight = 256;
/** Milliseconds between two groups of calls. */
const interval = 10;
/**
 * The last quarter of the run may use at most this many times the memory of the second quarter. The first quarter still
 * fills caches.
 */
const mostGrowth = 1.1;

/**
 * Runs the benchmark.
 * @param minutes how long the load lasts
 */
export async function bench({ minutes = "10" } = {}) {
  const home = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
  const http = await startHttpServers(10, sampleEnvironment(home));
  const client = await open([...stdioServers(1, 10), { ...http.servers(1)[0], name: "http" }]);
  try {
    return await soak(client, Number(minutes) * 60_000);
  } finally {
    await client.close();
    http.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

async function soak(client, duration) {
  const begin = performance.now();
  const samples = [];
  let made = 0;
  let done = 0;
  const failures = [];
  let nextSample = 0;
  const call = async () => {
    made += 1;
    try {
      await client.call(made % 2 === 0 ? "s0" : "http", "tool_0", { query: "text", bytes: 100 });
      done += 1;
    } catch (error) {
      failures.push(error);
    }
  };
  for (let now = 0; now < duration && failures.length === 0; now = performance.now() - begin) {
    while (made < (now / 1000) * callsPerSecond && made - done < mostInFlight) void call();
    if (now >= nextSample) {
      samples.push(take(now, made - done));
      nextSample += duration / 40;
    }
    await sleep(interval);
  }
  if (failures.length > 0) throw failures[0];
  return report(samples, done / (duration / 1000));
}

function take(now, inFlight) {
  collectGarbage();
  const { rss, heapUsed } = process.memoryUsage();
  const sample = { rss: rss / 2 ** 20, heap: heapUsed / 2 ** 20, descriptors: descriptors(), inFlight };
  const shown = `${(now / 1000).toFixed(0).padStart(5)} s  rss ${sample.rss.toFixed(0)} MB  heap ${sample.heap.toFixed(1)} MB`;
  process.stdout.write(`${shown}  descriptors ${sample.descriptors}  in flight ${inFlight}\n`);
  return sample;
}

/** Returns the number of open files and sockets; 0 if the system does not list them. */
function descriptors() {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return 0;
  }
}

function report(samples, rate) {
  const quarter = Math.floor(samples.length / 4);
  const growth = (figure) => {
    const values = samples.map((sample) => sample[figure]);
    return median(values.slice(-quarter)) / median(values.slice(quarter, 2 * quarter));
  };
  const figures = ["rss", "heap", "descriptors"].map((figure) => [figure, growth(figure) || 1]);
  const isFlat = figures.every(([, ratio]) => ratio <= mostGrowth);
  const isFast = rate >= callsPerSecond * 0.98;
  const shown = figures.map(([figure, ratio]) => `${figure} ${ratio.toFixed(2)} ×`).join(", ");
  process.stdout.write(`${rate.toFixed(0)} calls/s (goal ${callsPerSecond}): ${isFast ? "met" : "not met"}\n`);
  process.stdout.write(
    `last quarter beside the second: ${shown} (goal ≤ ${mostGrowth} ×): ${isFlat ? "met" : "not met"}\n`,
  );
  return isFlat && isFast;
}
