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
  readonly #turns: Turns;
  /** The pool of the host that takes writes. Undefined if it must be found first. */
  #pool: Promise<pg.Pool> | undefined;
  #isClosed = false;

  /** @param size The most connections. */
  constructor(addresses: readonly string[], size: number) {
    this.#addresses = addresses;
    this.#size = size;
    this.#turns = new Turns(size);
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
    await this.#turns.begin();
    if (this.#isClosed) {
      this.#turns.end();
      throw new HostError("unreachable", "the store is closed");
    }
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
      if (isStoreAway(failure)) {
        this.#forgetPool(opened);
        this.#turns.failWaiting(failure);
      }
      throw failure;
    } finally {
      this.#turns.end();
    }
  }

  async #openPool(): Promise<pg.Pool> {
    const pool = new pg.Pool({
      ...connectionOptions(await this.#findHost()),
      Client: PoolClient,
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

/**
 * Who may use a connection. A pool's own limit counts the wait for a free connection as time to connect, so it would say
 * under load that PostgreSQL is not reachable. Here a caller waits while others are served: each of their statements has a
 * limit, and if one finds that PostgreSQL is away, all that wait fail with it.
 */
class Turns {
  #free: number;
  readonly #waiting = new Set<{ readonly begin: () => void; readonly fail: (error: HostError) => void }>();

  constructor(size: number) {
    this.#free = size;
  }

  async begin(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        const problem = `PostgreSQL is too slow: no connection became free within ${timeouts.turn / 1000} s`;
        waiting.fail(
          new HostError("unreachable", problem, { next: "Raise fairlead.team.store.pool, or start another replica." }),
        );
      }, timeouts.turn);
      const leave = () => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
      };
      const waiting = {
        begin() {
          leave();
          resolve();
        },
        fail(error: HostError) {
          leave();
          reject(error);
        },
      };
      this.#waiting.add(waiting);
    });
  }

  end(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else next.begin();
  }

  failWaiting(error: HostError): void {
    for (const waiting of this.#waiting) waiting.fail(error);
  }
}

/** A client of the pool. */
class PoolClient extends pg.Client {
  constructor(options?: pg.ClientConfig) {
    super(options);
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
