// One sample: a process that imports a driver, opens servers with it, makes calls, and prints as JSON what each step cost.
import { readFileSync } from "node:fs";

const { driver, servers, tools, plans = [], heapCalls = 0 } = JSON.parse(process.argv[2]);
const toolName = "tool_0";
/** Fairlead offers at most this many tools of a server. */
const mostOffered = 512;
/** Maximum number of servers whose tools are read one by one. */
const mostAsked = 50;

/** CPU milliseconds of this process, without its children. */
function cpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** `maxRSS` would include the size of the parent process before the exec. */
function peakMegabytes() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS / 1024;
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
}

/** Removes text that some clients add to a result. */
function check(is, least, noun) {
  if (is < least) throw new Error(`${driver} returned ${is} ${noun} instead of ${least}`);
}

async function makeCalls(client, { calls, inFlight, bytes }) {
  let left = calls;
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      check(await client.call(servers[0].name, toolName, { query: "text", bytes }), bytes, "bytes");
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
}

/** Milliseconds of CPU for one call, after a quarter of the calls has warmed up the code. */
async function measureCalls(client, plan) {
  await makeCalls(client, { ...plan, calls: Math.ceil(plan.calls / 4) });
  const before = cpu();
  await makeCalls(client, plan);
  return (cpu() - before) / plan.calls;
}

/** Kilobytes of heap that one call leaves behind. */
async function measureHeap(client, calls) {
  const plan = { inFlight: 128, bytes: 100 };
  const used = () => {
    globalThis.gc();
    globalThis.gc();
    return process.memoryUsage().heapUsed;
  };
  await makeCalls(client, { ...plan, calls: calls / 5 });
  const before = used();
  await makeCalls(client, { ...plan, calls });
  return (used() - before) / 1024 / calls;
}

const start = cpu();
const { open } = await import(driver);
const imported = cpu();
const client = await open(servers);
const listed = cpu();
const figures = {
  import: imported - start,
  discovery: listed - imported,
  firstTool: listed - start,
  megabytes: peakMegabytes(),
};
check(client.count(), servers.length * tools, "tools");
if (plans.length > 0) {
  await makeCalls(client, { inFlight: 1, calls: 1, bytes: 100 });
  figures.firstResult = cpu() - start;
}
if (client.tools !== undefined) {
  const before = cpu();
  const asked = servers.slice(0, mostAsked);
  for (const { name } of asked) check(client.tools(name), Math.min(tools, mostOffered), "tools");
  figures.toolsByName = (cpu() - before) / asked.length;
}
for (const plan of plans) figures[plan.figure] = await measureCalls(client, plan);
if (heapCalls > 0) figures.heap = await measureHeap(client, heapCalls);
process.stdout.write(JSON.stringify(figures));
await client.close();
process.exit();
