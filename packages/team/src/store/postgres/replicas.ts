import { HostError } from "@fairlead/core";
import type { Replica, ReplicaStore } from "../replicas.ts";
import type { Database } from "./database.ts";
import { boundedText, toTime } from "./values.ts";

interface ReplicaRow {
  readonly id: number;
  readonly address: string;
  readonly version: string;
  readonly config_version: string;
  readonly config_problem: string | null;
  readonly is_draining: boolean;
  readonly spool_rows: number;
  readonly policy_read_at: Date | null;
  readonly started_at: Date;
  readonly seen_at: Date;
}

export class PostgresReplicas implements ReplicaStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  register({ address, version, startedAt }: Pick<Replica, "address" | "version" | "startedAt">): Promise<number> {
    return this.#database.transaction(async (run) => {
      await run("lock table replicas in share row exclusive mode");
      // A replica that was only stopped for a while keeps its number for a day, because rows of the ledger carry it.
      await run("delete from replicas where seen_at < now() - interval '1 day'");
      const [row] = await run<{ id: number }>(
        `insert into replicas (id, address, version, started_at)
          select min(number), $1, $2, $3 from generate_series(1, 32767) as number
            where not exists (select 1 from replicas where id = number)
          returning id`,
        [boundedText(address), boundedText(version), toTime(startedAt)],
      );
      if (row === undefined) throw new HostError("internal", "PostgreSQL returned no number for the replica");
      return row.id;
    });
  }

  async report(replica: Omit<Replica, "seenAt">): Promise<void> {
    const { id, address, version, configVersion, configProblem, isDraining, startedAt } = replica;
    const { spoolRows = 0, policyReadAt } = replica;
    const rows = await this.#database.run(
      `insert into replicas as old (id, address, version, config_version, config_problem, is_draining, started_at, spool_rows, policy_read_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        on conflict (id) do update set version = excluded.version, config_version = excluded.config_version,
          config_problem = excluded.config_problem, is_draining = excluded.is_draining,
          spool_rows = excluded.spool_rows, policy_read_at = excluded.policy_read_at, seen_at = now()
          where old.address = excluded.address and old.started_at = excluded.started_at
        returning id`,
      [
        id,
        boundedText(address),
        boundedText(version),
        configVersion,
        configProblem === undefined ? null : boundedText(configProblem),
        isDraining,
        toTime(startedAt),
        spoolRows,
        toTime(policyReadAt),
      ],
    );
    if (rows.length === 0)
      throw new HostError(
        "changed",
        `number ${id} belongs to another replica now: this one was away for more than a day`,
        {
          next: "Restart this replica.",
        },
      );
  }

  async unregister(id: number): Promise<void> {
    await this.#database.run("delete from replicas where id = $1", [id]);
  }

  async list(): Promise<readonly Replica[]> {
    const statement = "select * from replicas where seen_at > now() - interval '30 s' order by id";
    return (await this.#database.run<ReplicaRow>(statement)).map(toReplica);
  }
}

function toReplica(row: ReplicaRow): Replica {
  const { id, address, version, config_version, config_problem, is_draining, started_at, seen_at } = row;
  const { spool_rows, policy_read_at } = row;
  return {
    id,
    address,
    version,
    configVersion: Number(config_version),
    configProblem: config_problem ?? undefined,
    isDraining: is_draining,
    spoolRows: spool_rows,
    policyReadAt: policy_read_at?.getTime(),
    startedAt: started_at.getTime(),
    seenAt: seen_at.getTime(),
  };
}
