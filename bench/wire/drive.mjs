// One sample: a process of its own that loads a driver, does one job with it and says on stdout what that cost.
const { driver, job } = JSON.parse(process.argv[2]);

/** Milliseconds of this process alone, user and system; its children are not in them. */
function cpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The largest size of this process in megabytes; `maxRSS` would include what its parent was before the exec. */
function peakMegabytes() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS / 1024;
  const { readFileSync } = process.getBuiltinModule("node:fs");
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
}

function check(is, should, what) {
  if (is < should) throw new Error(`${driver} brought ${is} ${what} instead of ${should}`);
}

/** Starts all servers at once and asks each for all its lists. */
async function discover(open, { target, servers, tools }) {
  const before = cpu();
  const clients = await Promise.all(
    Array.from({ length: servers }, async () => {
      const client = await open(target);
      return { client, list: await client.list() };
    }),
  );
  const cost = { cpu: cpu() - before, megabytes: peakMegabytes() };
  for (const { list } of clients) check(list.length, tools, "tools");
  return { cost, clients: clients.map(({ client }) => client) };
}

/** The cost of one call, once the code is warm. */
async function call(open, { target, calls, inFlight, bytes }) {
  const client = await open(target);
  async function make(count) {
    let left = count;
    const caller = async () => {
      while (left > 0) {
        left -= 1;
        check(await client.call("tool_0", { query: "something", limit: 10 }), bytes, "bytes");
      }
    };
    await Promise.all(Array.from({ length: inFlight }, caller));
  }
  await make(Math.ceil(calls / 4));
  const before = cpu();
  await make(calls);
  return { cost: { cpu: (cpu() - before) / calls, megabytes: peakMegabytes() }, clients: [client] };
}

const before = cpu();
const { open } = await import(driver);
const imported = cpu() - before;
const jobs = {
  discover,
  call,
  load: async () => ({ cost: { cpu: imported, megabytes: peakMegabytes() }, clients: [] }),
};
const { cost, clients } = await jobs[job.kind](open, job);
process.stdout.write(JSON.stringify(cost));
await Promise.all(clients.map((client) => client.close()));
process.exit();
