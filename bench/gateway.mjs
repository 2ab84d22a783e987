// What a call costs through a gateway: CPU of the gateway's processes, without the client and the server, and latency. Each path stays open;
// rounds of calls, one and 16 in flight, are interleaved. The floor is a plain two-pipe relay. Limit: 3 times the floor from stdio to stdio.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installGatewayPeers } from "./gateway-peers.mjs";
import { median, sampleEnvironment, stdioServers } from "./samples.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const command = path("../packages/cli/bin/fairlead.cjs");
const calls = 200;
const limit = 3;
/** How many calls are in flight at the same time. */
const widths = [1, 16];

/**
 * Runs the benchmark.
 * @param rounds how often each path is measured. Default: 9
 */
export async function bench({ rounds: given = "9" } = {}) {
  const rounds = Number(given);
  const home = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
  const env = { ...sampleEnvironment(home), FAIRLEAD_HOME: join(home, "state") };
  const [server] = stdioServers(1, 10);
  mkdirSync(join(home, ".gemini"));
  const entry = { command: server.command, args: server.args, trust: true };
  writeFileSync(
    join(home, ".gemini/settings.json"),
    JSON.stringify({ mcpServers: { s0: entry }, security: { folderTrust: { enabled: false } } }),
  );
  const print = (line) => process.stdout.write(`${line}\n`);
  const node = [process.execPath];
  const context = { home, env, server };
  const plans = [
    {
      label: "two pipes (floor)",
      floor: true,
      open: () => openStdio([...node, path("servers/two-pipes.mjs"), server.command, ...server.args], context),
    },
    { label: "fairlead serve", most: limit, open: () => openStdio([...node, command, "serve"], context) },
    { label: "fairlead serve --alone", open: () => openStdio([...node, command, "serve", "--alone"], context) },
    {
      label: "fairlead serve --http",
      open: () => openHttp([...node, command, "serve", "--http", "--no-token"], context),
    },
    ...installGatewayPeers(print).map((peer) => ({
      label: peer.label,
      open: () => (peer.kind === "stdio" ? openStdio : openHttp)(peer.command(context), { ...context, ...peer }),
    })),
  ];
  const paths = [];
  try {
    for (const plan of plans) {
      try {
        paths.push({ ...plan, ...(await plan.open()), figures: new Map(widths.map((width) => [width, []])) });
      } catch (error) {
        print(`${plan.label} skipped: ${error.message}`);
      }
    }
    // The first calls compile the code.
    for (const each of paths) for (const width of widths) await measure(each, width);
    for (let round = 0; round < rounds; round += 1)
      for (const width of widths)
        for (const each of paths.toSorted(() => Math.random() - 0.5))
          each.figures.get(width).push(await measure(each, width));
    // The result for each number of open calls is reported, even if an earlier one is over the limit.
    return widths.map((width) => report(paths, width, print)).every((isWithin) => isWithin);
  } finally {
    for (const each of paths) each.close();
    await stopHost(env);
    endLeft(context);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function measure({ pids, call }, width) {
  const gateway = pids();
  const before = cpu(gateway);
  const times = [];
  let left = 5 * calls;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const begin = performance.now();
      await call();
      times.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return { cpu: (cpu(gateway) - before) / (5 * calls), latency: median(times) };
}

function report(paths, width, print) {
  const floor = paths.find((each) => each.floor).figures.get(width);
  print(
    `${`${width} in flight`.padEnd(28)}${"CPU ms a call, least".padStart(22)}${"median".padStart(9)}${"× floor".padStart(9)}${"latency ms".padStart(12)}${"processes".padStart(11)}`,
  );
  let isWithin = true;
  for (const { label, figures: all, most, pids } of paths) {
    const figures = all.get(width);
    const [own, theirs] = [figures, floor].map((each) => each.map((figure) => figure.cpu));
    const ratio = median(own.map((value, at) => value / theirs[at]));
    if (most !== undefined && ratio > most) isWithin = false;
    const numbers = [
      Math.min(...own).toFixed(3),
      median(own).toFixed(3),
      ratio.toFixed(1),
      median(figures.map((each) => each.latency)).toFixed(2),
    ];
    print(
      `${label.padEnd(28)}${numbers[0].padStart(22)}${numbers[1].padStart(9)}${numbers[2].padStart(9)}${numbers[3].padStart(12)}${String(pids().length).padStart(11)}`,
    );
  }
  print(isWithin ? `within ${limit} times the floor` : `more than ${limit} times the floor`);
  return isWithin;
}

/**
 * CPU milliseconds of these processes so far, by the scheduler's clock of each thread: the clock in `stat` counts
 * hundredths of a second, and is wrong by half for a process that often sleeps.
 */
function cpu(pids) {
  return pids.reduce((sum, pid) => {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.reduce((of, thread) => of + threadTime(`/proc/${pid}/task/${thread}/schedstat`), sum);
  }, 0);
}

function threadTime(file) {
  try {
    return Number(readFileSync(file, "latin1").split(" ")[0]) / 1e6;
  } catch {
    // The thread has ended.
    return 0;
  }
}

/**
 * Returns the processes of a path: those below the started process and, for Fairlead, the background host. The server
 * itself is left out.
 */
function processesOf(root, { home }) {
  const table = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        const parent = Number(stat.slice(stat.lastIndexOf(") ") + 2).split(" ")[1]);
        return [{ pid: Number(pid), parent, words }];
      } catch {
        return [];
      }
    });
  const isBelow = ({ pid, parent }) =>
    pid === root || (parent > 1 && table.some((each) => each.pid === parent && isBelow(each)));
  const isServer = ({ words }) => words[1] === path("servers/stdio.mjs");
  const isHost = ({ pid, words }) => words.includes("__host") && environmentOf(pid).includes(home);
  return {
    below: table.filter((each) => isBelow(each) && !isServer(each)).map(({ pid }) => pid),
    host: table.filter(isHost).map(({ pid }) => pid),
  };
}

function environmentOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    // A process of another program has ended, or belongs to another user.
    return "";
  }
}

function started(argv, context, stdio) {
  const [program, ...args] = argv;
  return spawn(program, args, { cwd: context.home, env: context.env, stdio });
}

const initialize = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "bench", version: "1" },
};

async function openStdio(argv, context) {
  const child = started(argv, context, ["pipe", "pipe", "ignore"]);
  let rest = "";
  let id = 0;
  const waiting = new Map();
  child.stdout.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.method === undefined) waiting.get(message.id)?.(message);
    }
  });
  const isOver = new Promise((_, reject) => child.on("exit", () => reject(new Error("it ended"))));
  isOver.catch(() => {});
  const ask = (method, params) => {
    id += 1;
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return Promise.race([new Promise((resolve) => waiting.set(id, resolve)), isOver]);
  };
  await ask("initialize", initialize);
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  return finish(child, ask, context, argv.includes("serve") && !argv.includes("--alone"));
}

async function openHttp(argv, context) {
  const child = started(argv, context, ["ignore", "pipe", "ignore"]);
  const url = context.url?.() ?? (await readyUrl(child));
  const agent = new Agent({ keepAlive: true });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  let session = {};
  let id = 0;
  const post = (message) =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method: "POST", agent, headers: { ...headers, ...session } }, (response) => {
        let text = "";
        const given = response.headers["mcp-session-id"];
        if (given !== undefined) session = { "mcp-session-id": given, "mcp-protocol-version": "2025-11-25" };
        response
          .setEncoding("utf8")
          .on("data", (part) => (text += part))
          .on("end", () => resolve(text));
      });
      sent.on("error", reject).end(JSON.stringify(message));
    });
  const ask = async (method, params) => {
    id += 1;
    const text = await post({ jsonrpc: "2.0", id, method, params });
    const json = text.startsWith("{") ? text : /^data: *(\{.*"(?:result|error)".*)$/m.exec(text)?.[1];
    if (json === undefined) throw new Error(`no answer to ${method}`);
    return JSON.parse(json);
  };
  const begin = performance.now();
  for (;;) {
    try {
      await ask("initialize", initialize);
      break;
    } catch (error) {
      if (performance.now() - begin > 20_000) {
        child.kill();
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  await post({ jsonrpc: "2.0", method: "notifications/initialized" });
  const opened = await finish(child, ask, context, false);
  const close = () => {
    agent.destroy();
    opened.close();
  };
  return { ...opened, close };
}

async function readyUrl(child) {
  for await (const chunk of child.stdout) return JSON.parse(String(chunk)).url;
  throw new Error("it ended");
}

async function finish(child, ask, context, hasHost) {
  const { result } = await ask("tools/list", {});
  const name = result?.tools?.map((tool) => tool.name).find((each) => each.endsWith("tool_0"));
  const call = async () => {
    const answer = await ask("tools/call", { name, arguments: { query: "text", bytes: 100 } });
    if (answer.result === undefined || answer.result.isError) throw new Error(JSON.stringify(answer).slice(0, 300));
  };
  await call();
  const pids = () => {
    const { below, host } = processesOf(child.pid, context);
    return hasHost ? [...new Set([...below, ...host])] : below;
  };
  return { call, pids, close: () => void child.kill() };
}

async function stopHost(env) {
  const child = spawn(process.execPath, [command, "daemon", "stop"], { env, stdio: "ignore" });
  await new Promise((resolve) => child.on("exit", resolve));
}

/** Ends the processes that a gateway has left, because other gateways have background processes too. */
function endLeft({ home }) {
  for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    try {
      if (readFileSync(`/proc/${name}/environ`, "utf8").includes(`HOME=${home}`)) process.kill(Number(name));
    } catch {
      // The process has ended, or belongs to another user.
    }
  }
}
