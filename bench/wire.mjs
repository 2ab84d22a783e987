// What our engine costs beside a floor written by hand and beside other clients: CPU of the client's own process.
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { bundleEngine, installPeers, startHttpServer, stdioServer } from "./wire/prepare.mjs";
import { measure, summarise } from "./wire/samples.mjs";

const url = (path) => new URL(path, import.meta.url).href;
/** `slow`: how many times fewer calls it makes, so that a run takes minutes. */
const drivers = [
  { label: "limit", driver: url("wire/drivers/limit.mjs") },
  { label: "fairlead", driver: url("wire/drivers/fairlead.mjs") },
  { label: "fairlead auto", driver: url("wire/drivers/auto.mjs"), onlyDiscovers: true },
  { label: "sdk 2", driver: url("peers/sdk2.mjs"), isPeer: true, slow: 4 },
  { label: "sdk 1", driver: url("peers/sdk1.mjs"), isPeer: true, slow: 4 },
  { label: "gemini", driver: url("peers/gemini.mjs"), isPeer: true, slow: 40 },
];

/** The driver whose figures are promised. */
const promised = "fairlead";

const cells = {
  discovery: {
    job: { kind: "discover", servers: 100, tools: 10 },
    figures: [
      { title: "100 servers with 10 tools, connected and listed", figure: "cpu", unit: "ms", most: 1.6 },
      { title: "peak memory with 100 servers", figure: "megabytes", unit: "MB", most: 1.25 },
    ],
  },
  tools: {
    job: { kind: "discover", servers: 1, tools: 10_000 },
    figures: [{ title: "1 server with 10 000 tools, connected and listed", figure: "cpu", unit: "ms", most: 1.5 }],
  },
  calls: {
    job: { kind: "call", calls: 20_000, inFlight: 128, bytes: 100 },
    figures: [{ title: "one of 128 calls in flight, 100 bytes, stdio", figure: "cpu", unit: "µs", most: 1.3 }],
  },
  large: {
    job: { kind: "call", calls: 8, inFlight: 1, bytes: 10_000_000 },
    figures: [{ title: "a result of 10 MB, stdio", figure: "cpu", unit: "ms", most: 1.3 }],
  },
  http: {
    job: { kind: "call", calls: 4_000, inFlight: 16, bytes: 100, overHttp: true },
    figures: [{ title: "one of 16 calls in flight, 100 bytes, HTTP", figure: "cpu", unit: "µs", most: 1.4 }],
  },
  import: {
    job: { kind: "load" },
    figures: [{ title: "import", figure: "cpu", unit: "ms", mostAbsolute: 20 }],
  },
};

export async function bench({ cell, rounds = "9", peers = "2" } = {}) {
  if (cell !== undefined && !(cell in cells)) {
    process.stderr.write(`there is no cell "${cell}"; known: ${Object.keys(cells).join(", ")}\n`);
    return false;
  }
  const home = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
  // As little as can be: every variable costs every process, and an extra certificate file costs most of all.
  const env = { PATH: process.env.PATH, HOME: home };
  const counts = { rounds: Number(rounds), peers: Math.min(Number(peers), Number(rounds)) };
  try {
    await bundleEngine();
    const server = stdioServer();
    if (counts.peers > 0) installPeers();
    print(`CPU of the client's process, medians of ${rounds} interleaved rounds (other clients: ${counts.peers})`);
    print(`stdio server in ${server.language}, load average ${loadavg()[0].toFixed(1)}, Node ${process.version}`);
    let isGood = true;
    for (const [name, { job, figures }] of Object.entries(cells)) {
      if (cell !== undefined && cell !== name) continue;
      const found = await run(job, server, counts, env);
      for (const figure of figures) isGood = report(found, figure) && isGood;
    }
    return isGood;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function run(job, server, counts, env) {
  const { tools = 10, bytes = 100 } = job;
  const sizes = [String(tools), String(bytes)];
  const http = job.overHttp ? await startHttpServer(sizes, env) : undefined;
  const target = http ? { url: http.url } : { command: server.command, args: [...server.args, ...sizes], env };
  try {
    const runners = drivers
      .filter(({ onlyDiscovers }) => !onlyDiscovers || job.kind === "discover")
      .map(({ label, driver, isPeer, slow = 1 }) => ({
        label,
        driver,
        job: { ...job, target, ...(job.calls && { calls: Math.max(8, job.calls / slow) }) },
        rounds: isPeer ? counts.peers : counts.rounds,
      }))
      .filter(({ rounds }) => rounds > 0);
    return measure(runners, env);
  } finally {
    http?.stop();
  }
}

/** Whether our engine keeps to what it promises. */
function report(rounds, { title, figure, unit, most, mostAbsolute }) {
  print(`\n${title}`);
  let isGood = true;
  for (const { label } of drivers.filter(({ label }) => label in rounds[0])) {
    const { value, ratio } = summarise(rounds, label, figure);
    const shown = (unit === "µs" ? value * 1000 : value).toFixed(1).padStart(9);
    const compared = most === undefined ? "" : `  ${ratio.toFixed(2).padStart(6)} x`;
    const promise = most === undefined ? `${mostAbsolute} ${unit}` : most;
    const isKept = most === undefined ? value <= mostAbsolute : ratio <= most;
    const verdict = label === promised ? `  (at most ${promise})  ${isKept ? "ok" : "TOO MUCH"}` : "";
    print(`  ${label.padEnd(14)} ${shown} ${unit}${compared}${verdict}`);
    if (label === promised) isGood = isKept;
  }
  return isGood;
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
