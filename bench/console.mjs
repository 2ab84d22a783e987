/*
 * What the console's page costs while servers work: `npm run bench -- console`. A background host with 20 servers, a
 * client of the gateway that calls 100 times a second (200 events and 200 messages a second), and the page in Chromium.
 * Prints the page's share of one core in several views and while the tab is hidden, its longest tasks, its heap, the
 * time to the first rows and its scripts' part of it, how long a message of 5 MB takes to open, and whether the page has
 * lost or doubled a message while its connection broke 20 times.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sampleEnvironment } from "./samples.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const { chromium } = createRequire(path("../packages/console/package.json"))("playwright-core");
const command = path("../packages/cli/bin/fairlead.cjs");
const server = path("../packages/test-servers/src/programs/well-behaved.mjs");
const print = (line) => process.stdout.write(`${line}\n`);

const serverCount = 20;
/** Calls a second. Each is two events and two messages. */
const rate = 100;
const cutRate = 500;
/** A share of one core, milliseconds, and megabytes. */
const goals = {
  now: 0.3,
  traffic: 0.3,
  history: 0.3,
  hidden: 0.02,
  task: 50,
  firstRows: 1000,
  script: 150,
  largeMessage: 300,
  heap: 10,
};

export async function bench({ minutes = "0.2" }) {
  const seconds = Number(minutes) * 60;
  const folder = mkdtempSync(join(tmpdir(), "fairlead-bench-console-"));
  const { CI: _, ...env } = sampleEnvironment(folder);
  mkdirSync(join(folder, ".gemini"));
  writeFileSync(join(folder, ".gemini/settings.json"), JSON.stringify(settings()));
  const start = (...argv) => spawn(process.execPath, [command, ...argv], { cwd: folder, env, stdio: "pipe" });
  const ended = (child) => new Promise((resolve) => child.on("exit", resolve));
  const client = new Client(start("serve", "--client", "bench"));
  const console = start("console", "--no-open");
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    const tools = await client.open();
    const lines = createInterface({ input: console.stdout });
    const address = await new Promise((resolve) => lines.once("line", resolve));
    console.stderr.resume();
    const page = await openPage(browser, address);
    return await measureAll(page, client, tools, seconds);
  } finally {
    await browser.close();
    client.end();
    console.kill("SIGINT");
    await ended(console);
    await ended(start("daemon", "stop"));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

function settings() {
  const names = Array.from({ length: serverCount }, (_, index) => `server-${index + 1}`);
  const entry = { command: process.execPath, args: [server], trust: true };
  return {
    mcpServers: Object.fromEntries(names.map((name) => [name, entry])),
    fairlead: {
      background: "on",
      servers: Object.fromEntries(names.slice(3).map((name) => [name, { start: "lazy" }])),
    },
    security: { folderTrust: { enabled: false } },
  };
}

async function measureAll(page, client, tools, seconds) {
  const results = [
    report("first rows", await page.firstRows(), goals.firstRows, "ms"),
    report("scripts until the page is live", page.script, goals.script, "ms"),
  ];
  const load = new Load(client, tools);
  for (const [name, hash] of [
    ["now", "#/now"],
    ["traffic", "#/traffic"],
    ["history", "#/history"],
  ]) {
    await page.go(hash);
    const found = await page.measure(() => load.run(rate, seconds));
    results.push(
      report(`${name}, ${found.rate.toFixed(0)} calls a second`, 100 * found.share, 100 * goals[name], "% of a core"),
      report(`${name}, longest task`, found.longest, goals.task, "ms of CPU"),
    );
  }
  await page.go("#/now");
  await page.hide(true);
  const hidden = await page.measure(() => load.run(rate, seconds));
  results.push(report("hidden tab", 100 * hidden.share, 100 * goals.hidden, "% of a core"));
  await page.hide(false);

  await page.go("#/traffic");
  await client.call(tools[0], { text: "five megabytes ".repeat(350_000) });
  const large = await page.openLatest();
  results.push(
    report("a message of 5 MB opens", large.took, goals.largeMessage, "ms"),
    report("a message of 5 MB, longest task", large.longest, goals.largeMessage, "ms of CPU"),
  );
  await page.go("#/traffic");
  const before = await page.heap();
  results.push(await cuts(page, load));
  results.push(report("heap, growth over all of this", (await page.heap()) - before, goals.heap, "MB"));
  results.push(...(await scroll(page)));
  return results.every(Boolean);
}

/** Breaks the page's connection while a thousand events a second arrive, and compares the page's messages with the host's. */
async function cuts(page, load) {
  const before = await page.counts();
  const running = load.run(cutRate, 12);
  for (let count = 0; count < 20; count += 1) {
    await wait(400);
    await page.cut();
  }
  await running;
  await wait(4000);
  const after = await page.counts();
  const sent = after.host - before.host;
  const off = Math.abs(after.page - before.page - sent);
  return report(`20 cuts, ${sent} messages: lost or doubled`, off, 0, "messages");
}

async function scroll(page) {
  const { rows, longest } = await page.scroll();
  return [report(`scrolling through ${rows} rows, longest task`, longest, goals.task, "ms of CPU")];
}

function report(what, value, goal, unit) {
  const isWithin = value <= goal;
  print(`${what}: ${Number(value.toFixed(1))} ${unit}, goal at most ${goal}${isWithin ? "" : ": over the goal"}`);
  return isWithin;
}

/** Calls at a rate, whatever the answers take. */
class Load {
  #client;
  #tools;
  #next = 0;

  constructor(client, tools) {
    this.#client = client;
    this.#tools = tools;
  }

  async run(perSecond, seconds) {
    const begin = performance.now();
    const open = [];
    for (let sent = 0; sent < perSecond * seconds; sent += 1) {
      const due = begin + (1000 * sent) / perSecond;
      if (due > performance.now()) await wait(due - performance.now());
      this.#next += 1;
      open.push(this.#client.call(this.#tools[this.#next % this.#tools.length], { text: `call ${this.#next}` }));
    }
    await Promise.all(open);
    return open.length / ((performance.now() - begin) / 1000);
  }
}

class Client {
  #child;
  #next = 1;
  #waiting = new Map();

  constructor(child) {
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const { id, result, error } = JSON.parse(line);
      this.#waiting.get(id)?.({ result, error });
      this.#waiting.delete(id);
    });
    child.stderr.resume();
  }

  #request(method, params = {}) {
    const id = this.#next;
    this.#next += 1;
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  /** Resolves with the names of three servers' tools. */
  async open() {
    const clientInfo = { name: "bench", version: "1" };
    await this.#request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    const names = new Set();
    while (names.size < 3) {
      const { result } = await this.#request("tools/list");
      for (const { name } of result.tools) names.add(name);
      await wait(200);
    }
    return [...names].slice(0, 3);
  }

  async call(name, args) {
    const { result, error } = await this.#request("tools/call", { name, arguments: args });
    if (error !== undefined || result.isError) throw new Error(`the call failed: ${JSON.stringify(error ?? result)}`);
  }

  end() {
    this.#child.stdin.end();
  }
}

/** Runs in the page before its scripts: notes when the first row of a server is there, and can break the stream of events. */
function watch() {
  globalThis.bench = {};
  const observer = new MutationObserver(() => {
    if (document.querySelector(".server-table tbody tr") === null) return;
    globalThis.bench.firstRows = performance.now();
    observer.disconnect();
  });
  observer.observe(document, { childList: true, subtree: true });
  // The connection of the events is broken from inside of the page: the request is aborted as a network would.
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    if (input !== "/api/events") return fetch(input, init);
    const breaking = new AbortController();
    globalThis.bench.cut = () => breaking.abort();
    return fetch(input, { ...init, signal: AbortSignal.any([init.signal, breaking.signal]) });
  };
}

/** The longest task of the page's main thread meanwhile, in milliseconds of CPU: a wait for a busy machine is no work. */
async function longestTask(browser, page, run) {
  await browser.startTracing(page, {
    categories: ["-*", "devtools.timeline", "disabled-by-default-devtools.timeline"],
  });
  await run();
  const { traceEvents } = JSON.parse(String(await browser.stopTracing()));
  const threads = traceEvents.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain");
  const isMain = ({ pid, tid }) => threads.some((thread) => thread.pid === pid && thread.tid === tid);
  const tasks = traceEvents.filter((event) => event.name === "RunTask" && event.tdur !== undefined && isMain(event));
  return Math.max(0, ...tasks.map(({ tdur }) => tdur / 1000));
}

async function openPage(browser, address) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const target = await context.newCDPSession(page);
  await target.send("Performance.enable");
  await page.addInitScript(watch);
  await page.goto(address);
  await page.getByText("live", { exact: true }).first().waitFor();
  const session = await browser.newBrowserCDPSession();
  const { metrics } = await target.send("Performance.getMetrics");
  const script = 1000 * metrics.find(({ name }) => name === "ScriptDuration").value;
  const cpu = async () => {
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    return processInfo.filter(({ type }) => type === "renderer").reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  };
  const api = (verb, params) =>
    page.evaluate(
      async ([name, body]) => {
        const { bearer } = JSON.parse(sessionStorage.getItem("fairlead session /"));
        const response = await fetch(`/api/${name}`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            authorization: `Bearer ${bearer}`,
            "idempotency-key": crypto.randomUUID(),
          },
          body: JSON.stringify(body),
        });
        return response.json();
      },
      [verb, params],
    );
  return {
    script,
    firstRows: () => page.evaluate(() => globalThis.bench.firstRows),
    async go(hash) {
      await page.evaluate((value) => {
        location.hash = value;
      }, hash);
      await wait(1500);
    },
    async hide(isHidden) {
      await page.evaluate((value) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
        document.dispatchEvent(new Event("visibilitychange"));
      }, isHidden);
    },
    async measure(run, traced = run) {
      const [before, begin] = [await cpu(), performance.now()];
      const reached = await run();
      const share = ((await cpu()) - before) / ((performance.now() - begin) / 1000);
      // Tracing costs CPU too, so the tasks are measured by themselves.
      const longest = await longestTask(browser, page, traced);
      return { share, rate: reached, longest };
    },
    async heap() {
      await target.send("HeapProfiler.collectGarbage");
      const { usedSize } = await target.send("Runtime.getHeapUsage");
      return usedSize / 1024 / 1024;
    },
    cut: () => page.evaluate(() => globalThis.bench.cut?.()),
    /** How many messages the host has seen, and how many the page has. */
    async counts() {
      const { frames } = await api("traffic/list", { limit: 1 });
      const shown = await page.locator(".traffic-count").textContent();
      return { host: frames[0].id, page: Number(/[\d,]+/.exec(shown)[0].replaceAll(",", "")) };
    },
    /** Opens the newest message, from the press until its text is drawn. */
    async openLatest() {
      await wait(3000);
      let took = 0;
      const longest = await longestTask(browser, page, async () => {
        took = await page.evaluate(async () => {
          const list = document.querySelector(".traffic-list");
          list.scrollTop = list.scrollHeight;
          await new Promise((resolve) => setTimeout(resolve, 500));
          const begin = performance.now();
          [...document.querySelectorAll("a.frame")].at(-1).click();
          while (document.querySelector(".detail-panel :is(.code-block, .json-tree)") === null)
            await new Promise((resolve) => requestAnimationFrame(resolve));
          return performance.now() - begin;
        });
      });
      return { took, longest };
    },
    async scroll() {
      let rows = 0;
      const longest = await longestTask(browser, page, async () => {
        rows = await page.evaluate(async () => {
          const list = document.querySelector(".traffic-list");
          const height = list.scrollHeight;
          for (let at = 0; at <= 60; at += 1) {
            list.scrollTop = (height * at) / 60;
            await new Promise((resolve) => requestAnimationFrame(resolve));
          }
          return Math.round(height / 24);
        });
      });
      return { rows, longest };
    },
  };
}
