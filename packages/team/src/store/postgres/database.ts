/** The pool of connections for everything but locks and notifications. */

import { HostError } from "@fairlead/core";
import pg from "pg";
import { isStoreAway } from "../store.ts";
import { connectionOptions, connectToPrimary, endQuietly, timeouts, toStoreError } from "./address.ts";

/** Runs one statement and returns its rows. */
export type RunStatement = <Row extends pg.QueryResultRow>(
  statement: string,
  values?: readonly unknown[],
) => Promise<Row[]>;

export class Database {
  readonly #addresses: readonly string[];
  readonly #size: number;
  /** The pool of the host that takes writes. Undefined if it must be found first. */
  #pool: Promise<pg.Pool> | undefined;
  #isClosed = false;

  /** @param size The most connections. */
  constructor(addresses: readonly string[], size: number) {
    this.#addresses = addresses;
    this.#size = size;
  }

  /** Runs one statement by itself. */
  readonly run: RunStatement = (statement, values) => this.#withClient((run) => run(statement, values));

  /** Runs statements that are stored together or not at all. */
  transaction<Result>(work: (run: RunStatement) => Promise<Result>): Promise<Result> {
    return this.#withClient((run, client) => inTransaction(run, work, () => client.isBroken));
  }

  /** Resolves when all running statements have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const pool = await this.#pool?.catch(() => undefined);
    await pool?.end();
  }

  async #withClient<Result>(
    work: (run: RunStatement, state: { readonly isBroken: boolean }) => Promise<Result>,
  ): Promise<Result> {
    if (this.#isClosed) throw new HostError("unreachable", "the store is closed");
    this.#pool ??= this.#openPool();
    const opened = this.#pool;
    try {
      const pool = await opened;
      const client = await pool.connect();
      const state = { isBroken: false };
      try {
        return await work(
          runOn(client, () => {
            state.isBroken = true;
          }),
          state,
        );
      } finally {
        client.release(state.isBroken);
      }
    } catch (error) {
      const failure = toStoreError(error);
      if (isStoreAway(failure)) this.#forgetPool(opened);
      throw failure;
    }
  }

  async #openPool(): Promise<pg.Pool> {
    const pool = new pg.Pool({
      ...connectionOptions(await this.#findHost()),
      // The pool's limit counts the wait for a free connection too, so it is longer than the one of each connection.
      connectionTimeoutMillis: timeouts.query,
      Client: ImpatientClient,
      max: this.#size,
      // Few connections are kept as long as they work.
      idleTimeoutMillis: 0,
    });
    // The pool removes an idle connection that ends. Without a listener, its end would end the process.
    pool.on("error", () => undefined);
    return pool;
  }

  /** With one host there is no choice: the pool connects to it again by itself. */
  async #findHost(): Promise<string> {
    const [first = "", ...others] = this.#addresses;
    if (others.length === 0) return first;
    for (const address of this.#addresses) {
      const client = await connectToPrimary([address]).catch(() => undefined);
      if (client === undefined) continue;
      await endQuietly(client);
      return address;
    }
    throw new HostError("unreachable", "PostgreSQL is not reachable: no host of the address takes writes", {
      next: "Check that one of the hosts in fairlead.team.store.url is the primary one.",
    });
  }

  /** Looks for the host again before the next statement, because another one may take writes now. */
  #forgetPool(pool: Promise<pg.Pool>): void {
    if (this.#addresses.length === 1 || this.#pool !== pool || this.#isClosed) return;
    this.#pool = undefined;
    void pool.then((old) => old.end()).catch(() => undefined);
  }
}

/** Runs statements on one connection. Calls `onBroken` if it cannot be used any more. */
export function runOn(client: pg.ClientBase, onBroken: () => void): RunStatement {
  return async <Row extends pg.QueryResultRow>(statement: string, values: readonly unknown[] = []) => {
    try {
      return (await client.query<Row>(statement, [...values])).rows;
    } catch (error) {
      const failure = toStoreError(error);
      if (isStoreAway(failure)) onBroken();
      throw failure;
    }
  };
}

/** Runs `work` between `begin` and `commit`. A connection that is broken takes no `rollback`: it ends. */
export async function inTransaction<Result>(
  run: RunStatement,
  work: (run: RunStatement) => Promise<Result>,
  isBroken: () => boolean,
): Promise<Result> {
  await run("begin");
  try {
    const result = await work(run);
    await run("commit");
    return result;
  } catch (error) {
    if (!isBroken()) await run("rollback").catch(() => undefined);
    throw error;
  }
}

/** A client of the pool, with the limit for connecting instead of the pool's longer one. */
class ImpatientClient extends pg.Client {
  constructor(options?: pg.ClientConfig) {
    super({ ...options, connectionTimeoutMillis: timeouts.connect });
    // The pool listens only while the client is idle. Without a listener, the end of its connection would end the process.
    this.on("error", () => undefined);
  }
}

/** The id of the advisory lock for what has this digest. */
export function lockIdOf(digest: Buffer): string {
  return digest.readBigInt64BE(0).toString();
}

/** Waits until no other transaction has the lock for what has this digest. It ends with the transaction. */
export async function lockFor(run: RunStatement, digest: Buffer): Promise<void> {
  await run("select pg_advisory_xact_lock($1::bigint)", [lockIdOf(digest)]);
}
