/** Runs the bars one after the other and prints their table. */

import { cpus } from "node:os";
import { postgresVersion } from "@fairlead/test-servers";
import { shareOf } from "../../src/limits/rate-limits.ts";
import { type Bar, killReplicas, restartAll, stopPostgres } from "./bars.ts";
import { measureExpiries } from "./expiries.ts";
import { Lab, type LabOptions } from "./lab.ts";
import { measureLimit } from "./limit.ts";
import { compareCost, measureLoad, type Simulate, watchMemory } from "./load.ts";
import { pushWhileDeaf } from "./policy.ts";

export interface RunOptions {
  readonly print: (line: string) => void;
  /** The group of bars. Default: all of them, one after the other. */
  readonly cell?: string;
  readonly programs: Programs;
  readonly simulate: Simulate;
  /** How many calls the memory is watched for. Default: 100,000. */
  readonly calls?: number;
}

/** The disk is waited for, as in production. */
const postgres = ["fsync=on"];

/** Calls a second, and how many of them a replica takes at once. */
const limit = { rate: 100, share: shareOf({ rate: 100, burst: 100 }) } as const;

/** Programs of `programs/` that are bundled for Node. */
export interface Programs {
  readonly replica: string;
  readonly refresher: string;
}

type Cell = (options: RunOptions) => Promise<readonly Bar[]>;

/** The groups of bars. */
const cells: Readonly<Record<string, Cell>> = {
  load: ({ simulate }) => withLab({}, (lab) => measureLoad(lab, { simulate })),
  kill: (options) => withNetworks(options, {}, (lab) => killReplicas(lab, { times: 10 })),
  restart: (options) => withNetworks(options, {}, restartAll),
  closed: (options) => withNetworks(options, {}, (lab) => stopTwice(lab, "closed")),
  spool: (options) => withNetworks(options, { audit: { whenAway: "spool" } }, (lab) => stopTwice(lab, "spool")),
  policy: (options) => withNetworks(options, {}, (lab) => pushWhileDeaf(lab, { times: 20 })),
  limit: () =>
    withLab({ team: { limits: { perServer: { up: `${limit.rate}/s` } } } }, (lab) => measureLimit(lab, limit)),
  expiries: ({ programs }) => withLab({ replicas: 0 }, (lab) => measureExpiries(lab.postgres, programs.refresher)),
  cost: ({ programs }) => {
    const [withStore, without] = [[], ["without-store"]].map((args) => [process.execPath, programs.replica, ...args]);
    if (withStore === undefined || without === undefined) throw new Error("two programs are needed");
    return withLab({ replicas: 2, programs: [withStore, without] }, compareCost);
  },
  memory: ({ calls, print }) => withLab({ replicas: 1, users: 1000 }, (lab) => watchMemory(lab, { calls, print })),
};

async function stopTwice(lab: Lab, mode: "closed" | "spool"): Promise<readonly Bar[]> {
  const short = await stopPostgres(lab, { milliseconds: 5000, mode });
  return [...short, ...(await stopPostgres(lab, { milliseconds: 30_000, mode }))];
}

/** Returns whether all bars are met. */
export async function run(options: RunOptions): Promise<boolean> {
  const { print, cell } = options;
  const version = postgresVersion();
  if (version === undefined) {
    print("PostgreSQL is absent, so nothing was measured (Debian: apt-get install postgresql)");
    return false;
  }
  const [processor] = cpus();
  print(
    `Node ${process.version}, PostgreSQL ${version} with fsync, ${cpus().length} × ${processor?.model ?? "processor"}`,
  );
  const names = cell === undefined ? Object.keys(cells) : cell.split(",");
  let isMet = true;
  for (const name of names) {
    const begin = performance.now();
    const measure = cells[name];
    if (measure === undefined)
      throw new Error(`there is no group "${name}"; there are ${Object.keys(cells).join(", ")}`);
    const bars = await measure(options);
    for (const each of bars)
      print(`${each.isMet ? "met    " : "NOT MET"}  ${each.title.padEnd(46)}  ${each.limit}: ${each.measured}`);
    print(`         (${name}: ${((performance.now() - begin) / 1000).toFixed(0)} s)`);
    isMet &&= bars.every((each) => each.isMet);
  }
  return isMet;
}

/** What is measured without a time or a processor's share: forwarders between the networks cost some of both. */
function withNetworks(
  { print }: RunOptions,
  options: LabOptions,
  measure: (lab: Lab) => Promise<readonly Bar[]>,
): Promise<readonly Bar[]> {
  return withLab({ networks: true, ...options }, (lab) => {
    print(
      lab.hasNetworks
        ? "         each replica has a network of its own (a network namespace)"
        : "         network namespaces are not permitted here: each replica has a loopback address of its own",
    );
    return measure(lab);
  });
}

async function withLab(options: LabOptions, measure: (lab: Lab) => Promise<readonly Bar[]>): Promise<readonly Bar[]> {
  await using lab = await Lab.open({ postgres, ...options });
  if (lab === undefined) throw new Error("PostgreSQL is absent");
  // Ctrl-C leaves no process and no folder behind.
  const end = (): void => void lab[Symbol.asyncDispose]().finally(() => process.exit(130));
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.once(signal, end);
  try {
    return await measure(lab);
  } finally {
    for (const signal of signals) process.off(signal, end);
  }
}
