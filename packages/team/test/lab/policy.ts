/** New versions of the policy while the connections that hear of them are ended. */

import pg from "pg";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { type Bar, bar, ready } from "./bars.ts";
import type { Lab } from "./lab.ts";

/** Ends the direct connection of every replica, each time while a version is pushed. */
export async function pushWhileDeaf(lab: Lab, { times }: { times: number }): Promise<readonly Bar[]> {
  await ready(lab.replicas);
  const store = await openPostgresStore({ url: lab.database.url, ring: lab.ring });
  const database = new pg.Client({ connectionString: lab.database.url });
  await database.connect();
  const waits: number[] = [];
  let ended = 0;
  try {
    for (let count = 0; count < times; count += 1) {
      const body = `[[rule]]\nmcpName = "up"\ntoolName = "never-${count}"\ndecision = "deny"\npriority = 100\n`;
      const [pushed, terminated] = await Promise.all([
        store.configs.push({ tenant: 1, kind: "policy", body, author: "lab" }),
        database.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'fairlead direct' and datname = current_database()`,
        ),
      ]);
      const begin = performance.now();
      ended += terminated.rowCount ?? 0;
      await Promise.all(
        lab.replicas.map(async (replica) => {
          const isCurrent = async (): Promise<boolean> => {
            const tenant = (await replica.readiness())?.config.find((each) => each.tenant === 1);
            return tenant !== undefined && tenant.version >= pushed.version;
          };
          while (!(await isCurrent())) await new Promise((resolve) => setTimeout(resolve, 20));
        }),
      );
      waits.push(performance.now() - begin);
    }
  } finally {
    await database.end();
    await store.close();
  }
  const sorted = waits.toSorted((one, other) => one - other);
  const slowest = sorted.at(-1) ?? 0;
  const seconds = (value: number): string => (value / 1000).toFixed(2);
  const measured = `${seconds(slowest)} s the slowest, ${seconds(sorted[times >> 1] ?? 0)} s the median; ${ended} connections ended`;
  const title = `LISTEN connections ended ${times} times during pushes`;
  return [
    bar(title, "all versions on all replicas", `${waits.length} of ${times}`, waits.length === times),
    { title: "  until every replica has it", limit: "≤ 2 s", measured, isMet: slowest <= 2000, isTime: true },
  ];
}
