// What ten times as many tools cost: compiled one by one, and registered as the tools of one server.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { median } from "./cpu.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const jobs = { compile: "schemas compiled", register: "tools registered and declared" };
const counts = { few: 1_000, many: 10_000 };
const most = 12;

export async function bench({ rounds = "9" } = {}) {
  const outdir = path("schemas/bundle");
  rmSync(outdir, { recursive: true, force: true });
  await build({
    entryPoints: [
      path("../packages/core/src/normalise/schema/compile.ts"),
      path("../packages/core/src/registry/tool-registry.ts"),
      path("../packages/core/src/registry/discovered-tool.ts"),
    ],
    outdir,
    outbase: path("../packages/core/src"),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    conditions: ["fairlead-source"],
  });
  process.stdout.write(`CPU of a process of its own, medians of ${rounds} interleaved rounds\n`);
  return Object.entries(jobs)
    .map(([job, title]) => report(title, measure(job, Number(rounds))))
    .every(Boolean);
}

function measure(job, rounds) {
  const samples = { few: [], many: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const [size, count] of Object.entries(counts).toSorted(() => Math.random() - 0.5)) {
      samples[size].push(sample(job, count));
    }
  }
  return samples;
}

/** `{ first, second }`: what the catalog cost in milliseconds, and what it cost to register it once more. */
function sample(job, count) {
  const { stdout, status } = spawnSync(process.execPath, [path("schemas/drive.mjs"), job, String(count)], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`${job} of ${count} ended with ${status}`);
  return JSON.parse(stdout);
}

function report(title, { few, many }) {
  const cost = { few: median(few.map(({ first }) => first)), many: median(many.map(({ first }) => first)) };
  const ratio = cost.many / cost.few;
  const again = median(many.map(({ first, second }) => second / first));
  const verdict = ratio <= most ? "ok" : "TOO SLOW";
  process.stdout.write(
    `${`${counts.many} ${title}`.padEnd(40)} ${cost.many.toFixed(0).padStart(6)} ms  ${ratio.toFixed(1)} x that of ${counts.few}  (at most ${most})  ${verdict}; ` +
      `once more ${again.toFixed(2)} x, 0 compiled\n`,
  );
  return ratio <= most;
}
