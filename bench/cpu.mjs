// CPU time of whole processes: each sample is a fresh process, the commands are interleaved, the medians are compared.
import { spawnSync } from "node:child_process";

/** User and system milliseconds of one run, children included. */
function sample(argv, env) {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@" >/dev/null 2>/dev/null </dev/null';
  const { stderr, status } = spawnSync("bash", ["-c", script, "bash", ...argv], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${argv.join(" ")} ended with ${status}`);
  const [user, system] = stderr.trim().split(" ").map(Number);
  return (user + system) * 1000;
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}

/** Medians in milliseconds by label; the order of the commands is shuffled in every round. */
export function interleaved(commands, { rounds, env }) {
  const samples = new Map(commands.map(({ label }) => [label, []]));
  for (const { argv } of commands) sample(argv, env); // warm the file cache
  for (let round = 0; round < rounds; round += 1) {
    const order = commands.toSorted(() => Math.random() - 0.5);
    for (const { label, argv } of order) samples.get(label).push(sample(argv, env));
  }
  return new Map([...samples].map(([label, values]) => [label, median(values)]));
}
