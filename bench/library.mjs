// Measures the library through createHost(), compared with the floor and with other clients.

import { jobs, libraryRows } from "./rows.mjs";
import { drive, interleave, startHttpServers, stdioServers, summarise } from "./samples.mjs";

const driver = (name) => new URL(`drivers/${name}.mjs`, import.meta.url).href;
const own = [
  { label: "floor", driver: driver("floor"), slow: 1 },
  { label: "Fairlead", driver: driver("fairlead"), slow: 1 },
];

/** @param options `rounds`: how often the floor and Fairlead run, and how often the peers; `cell`: the only job to measure */
export async function measureLibrary({ peers, rounds, env, cell, print }) {
  const found = {};
  for (const [name, job] of Object.entries(jobs)) {
    if (cell !== undefined && cell !== name) continue;
    const begin = performance.now();
    found[name] = await measureJob(job, { peers, rounds, env });
    print(`measured ${name} in ${((performance.now() - begin) / 1000).toFixed(0)} s`);
  }
  const rows = libraryRows.filter(({ job }) => job in found);
  return rows.map(({ title, job, figure, unit, goal }) => {
    const labels = ["floor", "Fairlead", ...peers.map(({ label }) => label)];
    const cells = labels.map((label) => [label, summarise(found[job], label, figure)]);
    return { title, unit, goal, beside: "floor", cells: Object.fromEntries(cells) };
  });
}

async function measureJob({ servers, tools, plans = [], isCheap = false, overHttp = false }, { peers, rounds, env }) {
  const http = overHttp ? await startHttpServers(tools, env) : undefined;
  const targets = http?.servers(servers) ?? stdioServers(servers, tools);
  const sample = (count) => (each) => ({
    label: each.label,
    rounds: count,
    take() {
      const fewer = plans.map((plan) => ({ ...plan, calls: Math.max(4, Math.ceil(plan.calls / each.slow)) }));
      return drive({ driver: each.driver, servers: targets, tools, plans: fewer }, env);
    },
  });
  try {
    return await interleave([
      ...own.map(sample(rounds.own)),
      ...peers.map(sample(isCheap ? rounds.cheapPeers : rounds.peers)),
    ]);
  } finally {
    http?.stop();
  }
}
