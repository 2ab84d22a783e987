import type { LimitRule, LimitStore } from "../limits.ts";
import type { RunStatement } from "./database.ts";
import { keyDigest } from "./values.ts";

/**
 * One row a bucket, in a table without a log: after a crash of PostgreSQL all buckets are full. The time is that of
 * PostgreSQL, so the replicas' clocks do not matter.
 */
const takeStatement = `
  with asked as (select $1::bytea as key_digest, $2::float8 as rate, $3::float8 as burst, $4::float8 as wanted, clock_timestamp() as at)
  insert into buckets as bucket (key_digest, tokens, taken, at)
    select key_digest, burst - least(floor(burst), wanted), least(floor(burst), wanted), at from asked
  on conflict (key_digest) do update set
    tokens = refilled(bucket) - floor(least(refilled(bucket), $4::float8)),
    taken = floor(least(refilled(bucket), $4::float8)),
    at = greatest(bucket.at, excluded.at)
  returning taken`.replaceAll(
  "refilled(bucket)",
  // A bucket's last time can be later than ours: another replica's statement was faster.
  "least($3::float8, bucket.tokens + $2::float8 * greatest(0, extract(epoch from excluded.at - bucket.at)::float8))",
);

export class PostgresLimits implements LimitStore {
  readonly #run: RunStatement;

  constructor(run: RunStatement) {
    this.#run = run;
  }

  async take(key: string, { rate, burst }: LimitRule, wanted: number): Promise<number> {
    const [row] = await this.#run<{ taken: number }>(takeStatement, [keyDigest(key), rate, burst, Math.floor(wanted)]);
    return row?.taken ?? 0;
  }
}
