// Takes samples. Every sample is a new process, and each round runs all samples in a random order.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Milliseconds after which a sample counts as failed. */
const timeout = 300_000;
const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** The environment of all samples. An extra certificate file costs every Node process more than a small command. */
export function sampleEnvironment(home) {
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  // A sample that is killed leaves its temporary files in the home folder, which is removed at the end.
  return { ...inherited, HOME: home, PWD: home, TMPDIR: home, NO_COLOR: "1" };
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}

/**
 * Runs each sample in each round that it takes part in. A sample that fails is reported and has no figures in that round.
 * @param samples `{ label, rounds, take }`: `take` returns or resolves to the sample's figures by name
 * @returns one object for each round: the figures by label
 */
export async function interleave(samples) {
  const rounds = [];
  for (let round = 0; round < Math.max(...samples.map((sample) => sample.rounds)); round += 1) {
    const figures = {};
    const order = samples.filter((sample) => round < sample.rounds).toSorted(() => Math.random() - 0.5);
    for (const { label, take } of order) {
      try {
        figures[label] = await take();
      } catch (error) {
        process.stderr.write(`${label} failed in round ${round + 1}: ${error.message}\n`);
      }
    }
    rounds.push(figures);
  }
  return rounds;
}

/** Returns the median of a figure, and the median of its ratios to the floor in the same round. */
export function summarise(rounds, label, figure, floor = "floor") {
  const own = rounds.filter((round) => [label, floor].every((each) => round[each]?.[figure] !== undefined));
  if (own.length === 0) return undefined;
  return {
    value: median(own.map((round) => round[label][figure])),
    ratio: median(own.map((round) => round[label][figure] / round[floor][figure])),
  };
}

/** Runs `drive.mjs` in its own process and returns its figures. */
export function drive(job, env) {
  const argv = [process.execPath, "--expose-gc", path("drive.mjs"), JSON.stringify(job)];
  return JSON.parse(run(argv, { env, stdio: ["ignore", "pipe", "inherit"] }).stdout);
}

/** Returns the CPU milliseconds of a command with all its children. */
export function commandCpu(argv, env) {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@" >/dev/null 2>/dev/null </dev/null';
  const { stderr } = run(["bash", "-c", script, "bash", ...argv], { env });
  const [user, system] = stderr.trim().split(" ").map(Number);
  return (user + system) * 1000;
}

function run([program, ...words], options) {
  const ended = spawnSync(program, words, { ...options, encoding: "utf8", timeout });
  if (ended.error !== undefined) throw ended.error;
  if (ended.status !== 0) throw new Error(`${words.join(" ").slice(0, 200)} ended with exit code ${ended.status}`);
  return ended;
}

/** Returns the definitions of stdio servers with this number of tools. */
export function stdioServers(count, tools) {
  const args = [path("servers/stdio.mjs"), String(tools)];
  return Array.from({ length: count }, (_, at) => ({ name: `s${at}`, command: process.execPath, args }));
}

/** Starts one process that answers for any number of HTTP servers. */
export async function startHttpServers(tools, env) {
  const child = spawn(process.execPath, [path("servers/http.mjs"), String(tools)], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [address] = await once(child.stdout, "data");
  const servers = (count) =>
    Array.from({ length: count }, (_, at) => ({ name: `s${at}`, url: `${String(address).trim()}${at}` }));
  return { servers, stop: () => void child.stdin.end() };
}
