/** Compares three independent books: what the client saw, what the server executed, and what the database says. */

import { canonicalJson } from "@fairlead/core/plain-text";
import pg from "pg";
import type { KeyRing } from "../../src/store/key-ring.ts";
import type { CallRecord } from "./callers.ts";

export interface Comparison {
  readonly done: number;
  readonly refused: number;
  readonly lost: number;
  /** The client had a result, and no row says so. */
  readonly doneWithoutRow: number;
  /** The server executed it, and neither a row nor an intent says so. */
  readonly executedUnseen: number;
  readonly executedTwice: number;
  readonly rowsTwice: number;
  /** The client was told that it was not done, and the server executed it. */
  readonly refusedButExecuted: number;
  readonly refusedIds: ReadonlySet<string>;
  /** Executed, with an intent and without a row: the doubtful ones, which become rows with the outcome `unknown`. */
  readonly doubtful: number;
}

export async function compareBooks(
  client: readonly CallRecord[],
  upstreamUrl: string,
  { databaseUrl, ring }: { readonly databaseUrl: string; readonly ring: KeyRing },
): Promise<Comparison> {
  const executed = new Map(
    (await (await fetch(upstreamUrl)).text())
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => [line.slice(0, line.indexOf(" ")), Number(line.slice(line.indexOf(" ") + 1))]),
  );
  const { rows, intents } = await readDatabase(databaseUrl);
  const digestOf = (id: string): string => ring.digest(canonicalJson({ id })).toString("hex");
  const own = client.map((record) => ({ ...record, digest: digestOf(record.id) }));
  const times = (record: CallRecord): number => executed.get(record.id) ?? 0;
  const count = (matches: (record: (typeof own)[number]) => boolean): number => own.filter(matches).length;
  const refused = own.filter((each) => each.outcome === "refused" && times(each) > 0);
  return {
    done: count(({ outcome }) => outcome === "done"),
    refused: count(({ outcome }) => outcome === "refused"),
    lost: count(({ outcome }) => outcome === "lost"),
    doneWithoutRow: count(({ outcome, digest }) => outcome === "done" && !rows.has(digest)),
    executedUnseen: count((each) => times(each) > 0 && !rows.has(each.digest) && !intents.has(each.digest)),
    executedTwice: count((each) => times(each) > 1),
    rowsTwice: count(({ digest }) => (rows.get(digest) ?? 0) > 1),
    refusedButExecuted: refused.length,
    refusedIds: new Set(refused.map(({ id }) => id)),
    doubtful: count((each) => times(each) > 0 && !rows.has(each.digest) && intents.has(each.digest)),
  };
}

/** How often each digest of arguments is in the database. */
async function readDatabase(url: string) {
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  try {
    const read = async (table: string): Promise<ReadonlyMap<string, number>> => {
      const statement = `select encode(args_digest, 'hex') as digest, count(*)::int as count from ${table} group by 1`;
      const { rows } = await database.query<{ digest: string; count: number }>(statement);
      return new Map(rows.map(({ digest, count }) => [digest, count]));
    };
    return { rows: await read("audit"), intents: await read("intents") };
  } finally {
    await database.end();
  }
}
