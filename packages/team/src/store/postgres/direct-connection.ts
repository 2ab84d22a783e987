/**
 * The one direct connection of a replica, for advisory locks and notifications. Both belong to a connection, so they do
 * not work through a pooler such as PgBouncer, which gives a client another connection for each transaction.
 */

import { type Clock, HostError } from "@fairlead/core";
import type pg from "pg";
import { connectToPrimary, endQuietly, toStoreError } from "./address.ts";
import { type RunStatement, runOn } from "./database.ts";

/** Milliseconds between two attempts to connect again: the first pause, and the longest one. */
const pauses = { first: 50, longest: 1000 };
/** Who looks into `pg_stat_activity` can tell it from those of the pool. */
const asDirect = { application_name: "fairlead direct" } as const;
/** Milliseconds after which a silent connection is asked whether it still works. */
const silence = 5000;

export class DirectConnection {
  readonly #addresses: readonly string[];
  readonly #channel: string;
  readonly #clock: Clock;
  readonly #events: DirectEvents;
  #client: pg.Client | undefined;
  /** `pg` takes one statement at a time. */
  #queue: Promise<unknown> = Promise.resolve();
  #pause = pauses.first;
  #cancelTimer: (() => void) | undefined;
  #isClosed = false;
  /** Resolves when a connection attempt that is under way has ended. */
  #attempt: Promise<void> | undefined;

  constructor(addresses: readonly string[], channel: string, clock: Clock, events: DirectEvents) {
    this.#addresses = addresses;
    this.#channel = channel;
    this.#clock = clock;
    this.#events = events;
  }

  /** Connects, proves that no pooler is between, and listens. */
  async open(): Promise<void> {
    const client = await connectToPrimary(this.#addresses, asDirect);
    try {
      await proveDirect(client);
      await this.#take(client);
    } catch (error) {
      await endQuietly(client);
      throw toStoreError(error);
    }
  }

  /** Whether it is connected and listens. */
  get isOpen(): boolean {
    return this.#client !== undefined;
  }

  /** Runs one statement after those that wait. Rejects with `unreachable` while it is not connected. */
  readonly run: RunStatement = (statement, values) => {
    const result = this.#queue.then(() => {
      const client = this.#client;
      if (client === undefined) throw new HostError("unreachable", "PostgreSQL is not reachable: no connection");
      return runOn(client, () => this.#lose(client))<never>(statement, values);
    });
    this.#queue = result.catch(() => undefined);
    return result;
  };

  /**
   * Takes an advisory lock, which ends with this connection. Returns undefined if another replica has it. Within one
   * process a lock may be taken only once at a time: PostgreSQL gives it to the same connection again.
   */
  async tryLock(id: string): Promise<AdvisoryLock | undefined> {
    const [row] = await this.run<{ taken: boolean }>("select pg_try_advisory_lock($1::bigint) as taken", [id]);
    const client = this.#client;
    if (row?.taken !== true) return undefined;
    return {
      release: async () => {
        // If the connection is another one now, the lock ended with the old one.
        if (this.#client === client)
          await this.run("select pg_advisory_unlock($1::bigint)", [id]).catch(() => undefined);
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    await this.#attempt;
    await this.#queue;
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) await endQuietly(client);
  }

  async #take(client: pg.Client): Promise<void> {
    client.on("notification", ({ payload = "" }) => this.#events.onMessage(payload));
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    await client.query(`listen ${this.#channel}`);
    this.#client = client;
    this.#pause = pauses.first;
    this.#checkLater();
    this.#events.onListening();
  }

  /** A connection through a broken network ends only when something is sent. */
  #checkLater(): void {
    this.#cancelTimer?.();
    if (this.#isClosed) return;
    this.#cancelTimer = this.#clock.after(
      silence,
      () => {
        void this.run("select 1").then(
          () => this.#checkLater(),
          () => undefined,
        );
      },
      { background: true },
    );
  }

  #lose(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    void endQuietly(client);
    this.#connectLater();
  }

  #connectLater(): void {
    this.#cancelTimer?.();
    if (this.#isClosed) return;
    this.#cancelTimer = this.#clock.after(
      this.#pause,
      () => {
        this.#attempt = this.#connectAgain();
      },
      { background: true },
    );
    this.#pause = Math.min(this.#pause * 2, pauses.longest);
  }

  async #connectAgain(): Promise<void> {
    try {
      await this.open();
    } catch {
      this.#connectLater();
    }
  }
}

/** What a replica is told by its direct connection. */
interface DirectEvents {
  /** A notification has come. */
  onMessage(payload: string): void;
  /** The connection listens: at first, and after each time when it was lost. */
  onListening(): void;
}

/** An advisory lock that this replica has. */
export interface AdvisoryLock {
  release(): Promise<void>;
}

/**
 * A pooler answers the start of a connection with an id of its own, and may use another connection for each statement.
 * Directly, the id is that of PostgreSQL's process for this connection, now and later, and it holds the lock.
 */
async function proveDirect(client: pg.Client): Promise<void> {
  const lockId = "7377286498862227813";
  const pid: unknown = Reflect.get(client, "processID");
  const pidStatement = "select pg_backend_pid() as pid";
  const first = await client.query<{ pid: number }>(pidStatement);
  await client.query("select pg_advisory_lock_shared($1::bigint)", [lockId]);
  const locks = await client.query("select 1 from pg_locks where locktype = 'advisory' and pid = $1", [pid]);
  const second = await client.query<{ pid: number }>(pidStatement);
  await client.query("select pg_advisory_unlock_shared($1::bigint)", [lockId]);
  if (first.rows[0]?.pid === pid && second.rows[0]?.pid === pid && locks.rows.length > 0) return;
  throw new HostError(
    "settings_invalid",
    "the address for locks does not lead to PostgreSQL directly: a pooler such as PgBouncer is between",
    {
      next: 'Write the direct address of PostgreSQL as "lockUrl" in fairlead.team.store. "url" may lead to the pooler.',
    },
  );
}
