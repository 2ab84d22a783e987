import { HostError } from "@fairlead/core";
import { Batches } from "@fairlead/core/policy";
import { isObject, parseJson } from "@fairlead/wire/json";
import { type Bound, decryptRow, encryptRow } from "../encryption.ts";
import type { KeyRing } from "../key-ring.ts";
import {
  type AuditRow,
  type CountedBy,
  type Intent,
  type LedgerSearch,
  type LedgerStore,
  type ReadRow,
  type RowCount,
  timeOfRequest,
} from "../ledger.ts";
import { sqlState } from "./address.ts";
import { type Database, lockFor } from "./database.ts";
import type { PartitionedTable, Partitions } from "./partitions.ts";
import { boundedText, keyDigest, ownerValues, toTime, withoutNul } from "./values.ts";

/** Two of the pool's connections write rows, so that other statements do not wait behind them. */
const batchLimits = { items: 500, parallel: 2 } as const;
/** The most rows that a search returns, and the most groups of rows. */
const mostRows = 10_000;
const mostGroups = 100_000;
/** SQLSTATE of a row that no partition takes. */
const noPartition = "23514";
/** Milliseconds for which an intent can be invisible after it was begun: a transaction ends within seconds. */
const commitTime = 60_000;

/** A column: its name, its type, and its value for a row. */
type Column<Row> = readonly [name: string, type: string, value: (row: Row) => unknown];

/** What a batch reports when it is stored. */
export type OnCommit = (rows: number, seconds: number) => void;

export class PostgresLedger implements LedgerStore {
  readonly #database: Database;
  readonly #partitions: Partitions;
  readonly #ring: KeyRing;
  readonly #onCommit: OnCommit;
  readonly #intents = new Batches<Intent>((intents) => this.#storeIntents(intents), batchLimits);
  readonly #rows = new Batches<AuditRow>((rows) => this.#storeRows(rows), batchLimits);

  constructor(database: Database, partitions: Partitions, ring: KeyRing, onCommit: OnCommit) {
    this.#database = database;
    this.#partitions = partitions;
    this.#ring = ring;
    this.#onCommit = onCommit;
  }

  async begin(intent: Intent): Promise<void> {
    checkIntent(intent);
    await this.#intents.add(intent);
  }

  async record(row: AuditRow): Promise<void> {
    checkIntent(row);
    await this.#rows.add(row);
  }

  async read(search: LedgerSearch): Promise<readonly ReadRow[]> {
    const { conditions, values } = conditionsOf(search);
    const rows = await this.#database.run<StoredRow>(
      `select * from audit where ${conditions} order by at desc, id desc limit $${values.length + 1}`,
      [...values, Math.min(search.limit, mostRows)],
    );
    return rows.map((row) => this.#toRow(row));
  }

  async count(search: LedgerSearch, by: readonly CountedBy[]): Promise<readonly RowCount[]> {
    const { conditions, values } = conditionsOf(search);
    const columns = by.length === 0 ? "" : `${by.join(", ")}, `;
    const rows = await this.#database.run<{ count: string; latest: Date } & Record<CountedBy, string | null>>(
      `select ${columns}count(*) as count, max(at) as latest from audit where ${conditions}
        ${by.length === 0 ? "having count(*) > 0" : `group by ${by.join(", ")}`}
        order by count desc, latest desc limit $${values.length + 1}`,
      [...values, Math.min(search.limit, mostGroups)],
    );
    return rows.map(({ count, latest, ...row }) => ({
      ...Object.fromEntries(by.map((name) => [name, row[name] ?? undefined])),
      count: Number(count),
      latest: latest.getTime(),
    }));
  }

  settle(before: number): Promise<number> {
    return this.#database.transaction(async (run) => {
      await lockFor(run, keyDigest("settle"));
      const [job] = await run<{ done_until: Date }>("select done_until from jobs where name = 'settle'");
      const from = job === undefined ? new Date(0) : new Date(job.done_until.getTime() - commitTime);
      const rows = await run(
        `insert into audit (id, at, tenant, principal, replica, server, tool, kind, args_digest, decision, rule,
            config_version, mode, outcome, duration_ms)
          select distinct on (id, at) id, at, tenant, principal, replica, server, tool, kind, args_digest, 'allow',
            'no outcome was recorded: the replica ended during the request', 0, 'default', 'unknown', 0
            from intents where begun >= $1 and begun < $2
            and not exists (select 1 from audit where audit.id = intents.id and audit.at = intents.at)
          on conflict do nothing returning id`,
        [from, new Date(before)],
      );
      await run(
        `insert into jobs (name, done_until) values ('settle', $1)
          on conflict (name) do update set done_until = greatest(jobs.done_until, excluded.done_until)`,
        [new Date(before)],
      );
      return rows.length;
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#intents.flush(), this.#rows.flush()]);
  }

  async #storeIntents(intents: readonly Intent[]): Promise<void> {
    await this.#insert("intents", intentColumns, intents, "");
  }

  async #storeRows(rows: readonly AuditRow[]): Promise<void> {
    // One statement may not store the same id twice.
    const unique = [...new Map(rows.toReversed().map((row) => [row.id, row])).values()];
    const columns: readonly Column<AuditRow>[] = [
      ...rowColumns,
      [
        "arguments",
        "bytea",
        (row) => row.arguments && encryptRow(this.#ring, boundOf(row), JSON.stringify(row.arguments)),
      ],
    ];
    const names = columns.map(([name]) => name).filter((name) => name !== "id" && name !== "at");
    const conflict = `on conflict (id, at) do update set ${names.map((name) => `${name} = excluded.${name}`).join(", ")}
      where audit.outcome = 'unknown'`;
    await this.#insert("audit", columns, unique, conflict);
  }

  async #insert<Row extends Intent>(
    table: PartitionedTable,
    columns: readonly Column<Row>[],
    rows: readonly Row[],
    conflict: string,
  ): Promise<void> {
    const begin = performance.now();
    const names = columns.map(([name]) => name).join(", ");
    const arrays = columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(", ");
    const statement = `insert into ${table} (${names}) select * from unnest(${arrays}) ${conflict}`;
    const values = columns.map(([, , value]) => rows.map((row) => value(row) ?? null));
    try {
      await this.#database.run(statement, values);
    } catch (error) {
      if (sqlState(error) !== noPartition) throw error;
      await this.#partitions.make(table, table === "intents" ? [await this.#now()] : rows.map(({ id }) => timeOf(id)));
      await this.#database.run(statement, values);
    }
    this.#onCommit(rows.length, (performance.now() - begin) / 1000);
  }

  /** The time of PostgreSQL, which decides about the partition of an intent. */
  async #now(): Promise<number> {
    const [row] = await this.#database.run<{ now: Date }>("select now() as now");
    return row?.now.getTime() ?? Date.now();
  }

  #toRow(row: StoredRow): ReadRow {
    const owner = { tenant: row.tenant, principal: row.principal };
    const json = row.arguments && decryptRow(this.#ring, boundOf({ id: row.id, owner }), row.arguments);
    const args = typeof json === "string" ? parseJson(json) : undefined;
    return {
      id: row.id,
      at: row.at.getTime(),
      owner,
      replica: row.replica,
      client: row.client ?? undefined,
      server: row.server,
      tool: row.tool,
      kind: row.kind,
      argsDigest: row.args_digest,
      arguments: isObject(args) ? args : undefined,
      decision: row.decision,
      rule: row.rule,
      ruleOrigin: row.rule_origin === null ? undefined : (JSON.parse(row.rule_origin) as AuditRow["ruleOrigin"]),
      configVersion: Number(row.config_version),
      mode: row.mode,
      answer: row.answer ?? undefined,
      answeredIn: row.answered_in ?? undefined,
      refusal: row.refusal ?? undefined,
      outcome: row.outcome,
      durationMs: row.duration_ms,
      confirmationMs: row.confirmation_ms ?? undefined,
      traceId: row.trace_id?.toString("hex"),
    };
  }
}

function conditionsOf(search: LedgerSearch): { readonly conditions: string; readonly values: readonly unknown[] } {
  const { tenant, principal, server, tool, traceId, outcome, kind, since, until, before } = search;
  const values: unknown[] = [tenant];
  const conditions = ["tenant = $1"];
  const add = (condition: string, value: unknown): void => {
    if (value === undefined || value === null) return;
    values.push(value);
    conditions.push(`${condition} $${values.length}`);
  };
  add("principal =", principal && withoutNul(principal));
  add("server =", server && boundedText(server));
  add("tool =", tool && boundedText(tool));
  add("trace_id =", traceId && Buffer.from(traceId, "hex"));
  add("outcome =", outcome && withoutNul(outcome));
  add("kind =", kind);
  add("at >=", toTime(since));
  add("at <", toTime(until));
  if (before !== undefined) {
    values.push(new Date(before.at), before.id);
    conditions.push(`(at, id) < ($${values.length - 1}, $${values.length}::uuid)`);
  }
  return { conditions: conditions.join(" and "), values };
}

interface StoredRow {
  readonly id: string;
  readonly at: Date;
  readonly tenant: number;
  readonly principal: string;
  readonly replica: number;
  readonly client: string | null;
  readonly server: string;
  readonly tool: string;
  readonly kind: AuditRow["kind"];
  readonly args_digest: Buffer;
  readonly arguments: Buffer | null;
  readonly decision: AuditRow["decision"];
  readonly rule: string;
  readonly rule_origin: string | null;
  readonly config_version: string;
  readonly mode: AuditRow["mode"];
  readonly answer: AuditRow["answer"] | null;
  readonly answered_in: AuditRow["answeredIn"] | null;
  readonly refusal: AuditRow["refusal"] | null;
  readonly outcome: AuditRow["outcome"];
  readonly duration_ms: number;
  readonly confirmation_ms: number | null;
  readonly trace_id: Buffer | null;
}

const intentColumns: readonly Column<Intent>[] = [
  ["id", "uuid", ({ id }) => id],
  ["at", "timestamptz", ({ id }) => new Date(timeOf(id))],
  ["tenant", "int", ({ owner }) => owner.tenant],
  ["principal", "text", ({ owner }) => owner.principal],
  ["replica", "smallint", ({ replica }) => replica],
  ["kind", "text", ({ kind }) => kind],
  ["server", "text", ({ server }) => boundedText(server)],
  ["tool", "text", ({ tool }) => boundedText(tool)],
  ["args_digest", "bytea", ({ argsDigest }) => argsDigest],
];

const rowColumns: readonly Column<AuditRow>[] = [
  ...intentColumns,
  ["client", "text", ({ client }) => client && boundedText(client)],
  ["decision", "text", ({ decision }) => decision],
  ["rule", "text", ({ rule }) => boundedText(rule)],
  ["rule_origin", "text", ({ ruleOrigin }) => ruleOrigin && withoutNul(JSON.stringify(ruleOrigin))],
  ["config_version", "bigint", ({ configVersion }) => configVersion],
  ["mode", "text", ({ mode }) => mode],
  ["answer", "text", ({ answer }) => answer],
  ["answered_in", "text", ({ answeredIn }) => answeredIn],
  ["refusal", "text", ({ refusal }) => refusal],
  ["outcome", "text", ({ outcome }) => outcome],
  ["duration_ms", "int", ({ durationMs }) => toInteger(durationMs)],
  ["confirmation_ms", "int", ({ confirmationMs }) => confirmationMs && toInteger(confirmationMs)],
  ["trace_id", "bytea", ({ traceId }) => traceId && Buffer.from(traceId, "hex")],
];

/** A value that PostgreSQL refuses would fail all rows of its batch. */
function checkIntent({ id, owner }: Intent): void {
  timeOf(id);
  ownerValues(owner);
}

function timeOf(id: string): number {
  const time = timeOfRequest(id);
  if (time === undefined) throw new HostError("internal", "the id of the request is no UUID of version 7");
  return time;
}

function toInteger(milliseconds: number): number {
  return Math.max(0, Math.min(Math.round(milliseconds), 2 ** 31 - 1));
}

function boundOf({ id, owner }: Pick<Intent, "id" | "owner">): Bound {
  return ["audit", id, owner.tenant, owner.principal];
}
