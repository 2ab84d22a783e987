// Measures drivers side by side: every sample is a process of its own, and their order is shuffled in every round.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median } from "../cpu.mjs";

const drive = fileURLToPath(new URL("drive.mjs", import.meta.url));

function sample(driver, job, env) {
  const { stdout, status } = spawnSync(process.execPath, [drive, JSON.stringify({ driver, job })], {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`${driver} ended with ${status}`);
  return JSON.parse(stdout);
}

/**
 * For each driver, what each round cost: `[{ limit: { cpu, megabytes }, … }, …]`.
 * @param runners `{ label, driver, job, rounds }`: how often it takes part, starting with the first round.
 */
export function measure(runners, env) {
  const most = Math.max(...runners.map(({ rounds }) => rounds));
  return Array.from({ length: most }, (_, round) => {
    const order = runners.filter(({ rounds }) => round < rounds).toSorted(() => Math.random() - 0.5);
    return Object.fromEntries(order.map(({ label, driver, job }) => [label, sample(driver, job, env)]));
  });
}

/** The median, and the median of how it compares to the floor of the same round: the machine is not the same in all. */
export function summarise(rounds, label, figure) {
  const own = rounds.filter((round) => label in round);
  return {
    value: median(own.map((round) => round[label][figure])),
    ratio: median(own.map((round) => round[label][figure] / round.limit[figure])),
  };
}
