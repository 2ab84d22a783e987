// Measures one flood in its own process: `node measure.mjs '{"mode","seconds"}'` prints one line of JSON.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const { mode, seconds, core = "../../packages/core/dist/index.js" } = JSON.parse(process.argv[2]);
const { createHost } = await import(core);
const server = join(dirname(fileURLToPath(import.meta.url)), "server.mjs");
const isCatalog = mode.startsWith("catalog-");
const home = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
const tick = 5;
/** Milliseconds between two calls to the other server, which is called as a model would: one call after the other. */
const pause = 10;

/**
 * The longest time in which no timer ran, as far as the main thread used the CPU in it: on a busy machine the rest is
 * waiting for a core, of this thread or of those that collect garbage for it.
 */
let stall = 0;
let last = performance.now();
let lastUsage = mainThreadTime();
const watch = setInterval(() => {
  const now = performance.now();
  const usage = mainThreadTime();
  stall = Math.max(stall, Math.min(now - last - tick, usage - lastUsage));
  [last, lastUsage] = [now, usage];
}, tick);

/** CPU time of the main thread in milliseconds; of the process where the system does not tell. */
function mainThreadTime() {
  if (existsSync("/proc/self/schedstat"))
    return Number.parseInt(readFileSync("/proc/self/schedstat", "latin1"), 10) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

let peak = 0;
const memory = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20);

async function called(host, milliseconds) {
  const times = [];
  for (const end = performance.now() + milliseconds; performance.now() < end; ) {
    const begin = performance.now();
    await host.call("neighbour", "flood", {});
    times.push(performance.now() - begin);
    await sleep(pause);
  }
  return times.sort((one, other) => one - other);
}

const median = (times) => times[times.length >> 1];
const web = mode.startsWith("http-") ? spawn(process.execPath, [server, mode]) : undefined;
const address = web && String((await once(web.stdout, "data"))[0]).trim();
const hostile = address ? { httpUrl: address } : { command: process.execPath, args: [server, mode] };
const neighbour = { command: process.execPath, args: [server, "none"] };
const host = await createHost({
  settings: { mcpServers: { neighbour, ...(!isCatalog && { hostile }) } },
  workspace: false,
  recover: true,
  environment: { env: { PATH: process.env.PATH, HOME: home }, home, cwd: home, platform: process.platform },
});
try {
  await host.start();
  await called(host, 500);
  stall = 0;
  const control = await called(host, Math.min(5_000, seconds * 1_000));
  const before = process.memoryUsage.rss();
  const controlStall = stall;
  [stall, peak, last] = [0, before, performance.now()];
  let reloaded;
  if (isCatalog) {
    // The host stays open, so that the neighbour is called while the catalog is read.
    reloaded = createHost({
      settings: { mcpServers: { hostile } },
      workspace: false,
      environment: { env: { PATH: process.env.PATH, HOME: home }, home, cwd: home, platform: process.platform },
    }).then(async (second) => {
      await second.start();
      return second;
    });
  } else await host.call("hostile", "flood", {});
  const began = performance.now();
  let lasted = seconds;
  host.on("state", ({ state }) => {
    if (state.name === "hostile" && state.status === "disconnected") lasted = (performance.now() - began) / 1000;
  });
  const flooded = await called(host, seconds * 1_000);
  const second = await reloaded;
  // Saving the catalog goes on after the start.
  if (second) await sleep(1_000);
  const state = (second ?? host).states().find(({ name }) => name === "hostile");
  const result = {
    mode,
    control: median(control),
    flooded: median(flooded),
    slowest: flooded.at(-1),
    calls: flooded.length,
    stall,
    controlStall,
    megabytes: (peak - before) / 1024 / 1024,
    lasted: Math.min(lasted, seconds),
    state: state?.status === "connected" ? "connected" : `${state?.status} (${state?.reason})`,
    tools: state?.offer?.tools,
    said: state?.message ?? state?.offer?.note,
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
  await second?.[Symbol.asyncDispose]();
} finally {
  clearInterval(watch);
  clearInterval(memory);
  await host[Symbol.asyncDispose]();
  web?.kill();
  rmSync(home, { recursive: true, force: true });
}
