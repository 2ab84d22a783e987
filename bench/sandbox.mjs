/*
 * What a sandbox costs: `npm run bench -- sandbox`. Starts the same server with and without one, in turn, each in a host
 * of its own, and prints the CPU time of the host and all its children until the server is connected, and how long a call
 * takes.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { median, sampleEnvironment } from "./samples.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const core = pathToFileURL(path("../packages/core/dist/esm/index.js")).href;
const server = path("../packages/test-servers/src/programs/calls/evaluator.mjs");
const pairs = 7;
const calls = 300;
/** Milliseconds of CPU time above a start without a sandbox. */
const mostStart = 60;
/** A call with a sandbox takes at most so many times the time without, and so many milliseconds more. */
const mostCall = { factor: 1.3, milliseconds: 0.5 };

const host = `
import { createHost } from ${JSON.stringify(core)};
const host = await createHost({ environment: { env: process.env, home: process.env.HOME, cwd: process.env.HOME, platform: "linux" } });
await host.call("s", "run", { code: "" });
console.log("connected");
for await (const _ of process.stdin) {
  const times = [];
  for (let count = 0; count < ${calls}; count++) {
    const began = performance.now();
    await host.call("s", "run", { code: "return 1" });
    times.push(performance.now() - began);
  }
  console.log(JSON.stringify(times.sort((one, other) => one - other)[${calls / 2}]));
}
await host[Symbol.asyncDispose]();
`;

export async function bench() {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-bench-sandbox-"));
  const homes = { off: home(folder, "off"), on: home(folder, "on") };
  try {
    // The first start of each fills caches.
    for (const each of Object.values(homes)) await sample(each);
    const rounds = [];
    for (let round = 0; round < pairs; round += 1)
      rounds.push({ off: await sample(homes.off), on: await sample(homes.on) });
    const of = (which, figure) => median(rounds.map((round) => round[which][figure]));
    const more = median(rounds.map(({ on, off }) => on.cpu - off.cpu));
    const most = of("off", "call") * mostCall.factor + mostCall.milliseconds;
    print(
      `start, CPU of the host and its children: ${of("off", "cpu").toFixed(0)} ms without, ${of("on", "cpu").toFixed(0)} ms in a sandbox`,
    );
    print(`more in a sandbox: ${more.toFixed(0)} ms (median of ${pairs} pairs; at most ${mostStart} ms)`);
    print(
      `a call: ${of("off", "call").toFixed(2)} ms without, ${of("on", "call").toFixed(2)} ms in a sandbox (at most ${most.toFixed(2)} ms)`,
    );
    return more <= mostStart && of("on", "call") <= most;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function home(folder, sandbox) {
  const own = join(folder, sandbox);
  mkdirSync(join(own, ".gemini"), { recursive: true });
  const settings = {
    mcpServers: { s: { command: process.execPath, args: [server] } },
    fairlead: { background: "off", servers: { s: { sandbox } } },
  };
  writeFileSync(join(own, ".gemini/settings.json"), JSON.stringify(settings));
  return own;
}

async function sample(own) {
  const child = spawn(process.execPath, ["--input-type=module", "-e", host], {
    cwd: own,
    env: sampleEnvironment(own),
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  await once(lines, "line");
  const cpu = cpuOf(child.pid);
  child.stdin.write("calls\n");
  const [line] = await once(lines, "line");
  child.stdin.end();
  await exited;
  return { cpu, call: Number(line) };
}

/**
 * CPU time of a process and its children, in milliseconds. The children of a killed bubblewrap are missing from the sums
 * that a parent gets, so they are read while they live.
 */
function cpuOf(pid) {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const fields = readFileSync(`/proc/${name}/stat`, "latin1")
          .replace(/^.*\) /s, "")
          .split(" ");
        return [{ pid: Number(name), parent: Number(fields[1]), ended: Number(fields[13]) + Number(fields[14]) }];
      } catch {
        return [];
      }
    });
  const family = new Set([pid]);
  for (let size = 0; size < family.size; ) {
    size = family.size;
    for (const each of processes) if (family.has(each.parent)) family.add(each.pid);
  }
  return processes
    .filter((each) => family.has(each.pid))
    .reduce((sum, each) => sum + each.ended * 10 + ranFor(each.pid), 0);
}

/** The exact time of all threads. `stat` counts ticks of 10 ms. */
function ranFor(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "latin1").split(" ")[0]) / 1e6)
      .reduce((sum, each) => sum + each, 0);
  } catch {
    return 0;
  }
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
