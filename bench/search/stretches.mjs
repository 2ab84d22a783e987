// Measures the longest synchronous stretch of one use of very many tools, in a process of its own:
// `node stretches.mjs '{"phase","files"}'` prints one line of JSON. `files`: one JSON file of tools for each server.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PerformanceObserver } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

const { phase, files, core = "../../packages/core/dist/index.js" } = JSON.parse(process.argv[2]);
const { createHost } = await import(core);
const program = fileURLToPath(
  new URL("../../packages/test-servers/src/programs/catalogs/echo-catalog.mjs", import.meta.url),
);

/** A model that searches, calls two tools and then answers. */
function createModel() {
  const answers = [
    [{ functionCall: { name: "search_tools", args: { queries: ["create an invoice", "delete a file"] } } }],
    [{ text: "ok" }],
  ];
  let asked = 0;
  return {
    provider: "bench",
    name: "bench",
    dialect: "openai",
    maxDeclarations: 512,
    async *stream() {
      const parts = answers[asked % answers.length];
      asked += 1;
      yield { type: "finish", reason: "stop", content: { role: "model", parts } };
    },
  };
}

/** The CPU time of the main thread in milliseconds; of the whole process where the system does not tell. */
function cpuTime() {
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
    return Number(nanoseconds) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

/**
 * Watches every turn of the event loop until it is stopped. The garbage collector runs inside of turns: its share of the
 * wall time of a turn is its share of the CPU time.
 */
function watch() {
  const turns = [];
  const pauses = [];
  const observer = new PerformanceObserver((list) => pauses.push(...list.getEntries()));
  observer.observe({ entryTypes: ["gc"] });
  let isOver = false;
  let last = { at: performance.now(), cpu: cpuTime() };
  const begin = process.cpuUsage();
  const look = () => {
    const now = { at: performance.now(), cpu: cpuTime() };
    turns.push({ from: last.at, to: now.at, cpu: now.cpu - last.cpu });
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return async () => {
    isOver = true;
    await new Promise((resolve) => setImmediate(resolve));
    const { user, system } = process.cpuUsage(begin);
    // The pauses are reported a little later.
    await new Promise((resolve) => setTimeout(resolve, 20));
    observer.disconnect();
    const own = turns.map(({ from, to, cpu }) => {
      const inside = pauses.filter(({ startTime }) => startTime >= from && startTime < to);
      const collected = inside.reduce((sum, { duration }) => sum + duration, 0);
      return cpu * (1 - Math.min(collected / (to - from), 1));
    });
    const longest = (values) => values.toSorted((one, other) => other - one)[0];
    return {
      turns: turns.length,
      stretch: longest(own),
      withCollector: longest(turns.map(({ cpu }) => cpu)),
      cpu: (user + system) / 1000,
    };
  };
}

async function drain(events) {
  for await (const event of events) if (event.type === "error") throw event.error;
}

const home = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
const host = await createHost({
  settings: {
    mcpServers: Object.fromEntries(
      files.map((file, at) => [`server-${at}`, { command: process.execPath, args: [program, file], trust: true }]),
    ),
    fairlead: { connectTimeout: 600_000, toolBudget: 8000 },
  },
  workspace: false,
  environment: { env: { PATH: process.env.PATH, HOME: home }, home, cwd: home, platform: process.platform },
});
const phases = {
  start: { work: () => host.start() },
  "first search": { before: () => host.start(), work: () => host.searchTools("create an invoice") },
  query: {
    async before() {
      await host.start();
      await host.searchTools("warm up");
    },
    work: () => host.searchTools(["create a new customer record in the archive", "delete the file"]),
  },
  toolOffers: { before: () => host.start(), work: () => host.toolOffers({ model: createModel() }) },
  "first turn": {
    before: () => host.start(),
    work: () => drain(host.conversation({ model: createModel() }).send("go")),
  },
  "later turn": {
    async before() {
      await host.start();
      this.conversation = host.conversation({ model: createModel() });
      await drain(this.conversation.send("go"));
    },
    async work() {
      await drain(this.conversation.send("go"));
    },
  },
  reconnect: {
    async before() {
      await host.start();
      this.conversation = host.conversation({ model: createModel() });
      await drain(this.conversation.send("go"));
    },
    async work() {
      await host.restart(["server-0"]);
      await drain(this.conversation.send("go"));
    },
  },
};
try {
  const { before, work } = phases[phase];
  await before?.call(phases[phase]);
  // The catalogs are saved after a while; that work is not the work of this phase.
  if (before !== undefined) await host.flushHistory?.();
  const stop = watch();
  await work.call(phases[phase]);
  process.stdout.write(`${JSON.stringify({ phase, ...(await stop()) })}\n`);
} finally {
  await host[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
}
