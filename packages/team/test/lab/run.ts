/** Runs the bars one after the other and prints their table. */

import { cpus } from "node:os";
import { postgresVersion } from "@fairlead/test-servers";
import { type Bar, killReplicas, restartAll, stopPostgres } from "./bars.ts";
import { Lab, type LabOptions } from "./lab.ts";
import { measureLoad } from "./load.ts";

export interface RunOptions {
  readonly print: (line: string) => void;
  /** The group of bars. Default: all of them, one after the other. */
  readonly cell?: string;
}

/** The disk is waited for, as in production. */
const postgres = ["fsync=on"];

/** The groups of bars. */
const cells: Readonly<Record<string, (print: (line: string) => void) => Promise<readonly Bar[]>>> = {
  load: () => withLab({}, measureLoad),
  kill: () => withLab({}, (lab) => killReplicas(lab, { times: 10 })),
  restart: () => withLab({}, restartAll),
  closed: () =>
    withLab({}, async (lab) => [
      ...(await stopPostgres(lab, { milliseconds: 5000, mode: "closed" })),
      ...(await stopPostgres(lab, { milliseconds: 30_000, mode: "closed" })),
    ]),
  spool: () =>
    withLab({ audit: { whenAway: "spool" } }, async (lab) => [
      ...(await stopPostgres(lab, { milliseconds: 5000, mode: "spool" })),
      ...(await stopPostgres(lab, { milliseconds: 30_000, mode: "spool" })),
    ]),
};

/** Returns whether all bars are met. */
export async function run({ print, cell }: RunOptions): Promise<boolean> {
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
    const bars = await measure(print);
    for (const each of bars)
      print(`${each.isMet ? "met    " : "NOT MET"}  ${each.title.padEnd(46)}  ${each.limit}: ${each.measured}`);
    print(`         (${name}: ${((performance.now() - begin) / 1000).toFixed(0)} s)`);
    isMet &&= bars.every((each) => each.isMet);
  }
  return isMet;
}

async function withLab(options: LabOptions, measure: (lab: Lab) => Promise<readonly Bar[]>): Promise<readonly Bar[]> {
  await using lab = await Lab.open({ postgres, ...options });
  if (lab === undefined) throw new Error("PostgreSQL is absent");
  return await measure(lab);
}
