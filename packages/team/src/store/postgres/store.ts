/** The store of the team gateway in PostgreSQL. */

import { type Clock, systemClock } from "@fairlead/core";
import type { KeyRing } from "../key-ring.ts";
import type { LedgerStore } from "../ledger.ts";
import { Spool } from "../spool.ts";
import { SpoolingLedger } from "../spooling-ledger.ts";
import type { StoreStats, TeamStore } from "../store.ts";
import { addressesOf, toStoreError } from "./address.ts";
import { PostgresApiKeys } from "./api-keys.ts";
import { PostgresApprovals } from "./approvals.ts";
import { PostgresClients } from "./clients.ts";
import { PostgresConfigs } from "./configs.ts";
import { PostgresConsumed } from "./consumed.ts";
import { Database } from "./database.ts";
import { PostgresDefinitions } from "./definitions.ts";
import { DirectConnection } from "./direct-connection.ts";
import { PostgresGrants } from "./grants.ts";
import { hintChannel, PostgresHints } from "./hints.ts";
import { PostgresLedger } from "./ledger.ts";
import { PostgresLimits } from "./limits.ts";
import { PostgresMessages } from "./messages.ts";
import { migrate, refuseOlder } from "./migrate.ts";
import { Partitions } from "./partitions.ts";
import { PostgresQuestions } from "./questions.ts";
import { PostgresReplicas } from "./replicas.ts";
import { PostgresRevocations } from "./revocations.ts";
import { PostgresUsers } from "./users.ts";

export interface PostgresOptions {
  /** The address of the database. It may have several hosts, and may lead to a pooler. */
  readonly url: string;
  /** The address for locks and notifications, if `url` leads to a pooler. */
  readonly lockUrl?: string;
  readonly ring: KeyRing;
  /** The most connections of this replica, beside the one for locks and notifications. Default: 4. */
  readonly pool?: number;
  /** For how many days rows of the ledger are kept. Default: 90. */
  readonly keepDays?: number;
  /**
   * The folder of this replica in which rows wait while PostgreSQL is away. Without one, `ledger` rejects with
   * `unreachable` then.
   */
  readonly spoolFolder?: string;
  /** Whether older tables are brought to the version of this program. Default: true. */
  readonly migrates?: boolean;
  readonly clock?: Clock;
}

/**
 * Opens the store: migrates the tables, connects, and listens.
 *
 * @throws HostError `unreachable`, `settings_invalid` if the connection for locks is not a direct one, `diverged` if the
 *   database is newer than this program, or older and `migrates` is false
 */
export async function openPostgresStore(options: PostgresOptions): Promise<TeamStore> {
  const { url, lockUrl, ring, pool = 4, keepDays = 90, spoolFolder, migrates = true, clock = systemClock } = options;
  const direct = addressesOf(lockUrl ?? url, lockUrl === undefined ? "url" : "lockUrl");
  const database = new Database(addressesOf(url, "url"), pool);
  const spool = spoolFolder === undefined ? undefined : await Spool.open(spoolFolder, ring);
  const store = new PostgresStore(database, { direct, ring, spool, keepDays, clock });
  try {
    // A migration takes a lock for longer than a pooler may lend a connection.
    await (migrates ? migrate(direct) : refuseOlder(direct));
    await store.open();
    return store;
  } catch (error) {
    await store.close();
    throw toStoreError(error);
  }
}

interface StoreParts {
  readonly direct: readonly string[];
  readonly ring: KeyRing;
  readonly spool: Spool | undefined;
  readonly keepDays: number;
  readonly clock: Clock;
}

class PostgresStore implements TeamStore {
  readonly #database: Database;
  readonly #direct: DirectConnection;
  readonly #partitions: Partitions;
  readonly #keepDays: number;
  readonly #spooling: SpoolingLedger | undefined;
  readonly #stats = { batches: 0, batchRows: 0, commitSeconds: 0, listens: 0 };
  readonly hints: PostgresHints;
  readonly grants: PostgresGrants;
  readonly clients: PostgresClients;
  readonly approvals: PostgresApprovals;
  readonly definitions: PostgresDefinitions;
  readonly configs: PostgresConfigs;
  readonly ledger: LedgerStore;
  readonly questions: PostgresQuestions;
  readonly limits: PostgresLimits;
  readonly messages: PostgresMessages;
  readonly apiKeys: PostgresApiKeys;
  readonly consumed: PostgresConsumed;
  readonly revocations: PostgresRevocations;
  readonly replicas: PostgresReplicas;
  readonly users: PostgresUsers;

  constructor(database: Database, { direct, ring, spool, keepDays, clock }: StoreParts) {
    const { run } = database;
    const hints = new PostgresHints(run, clock);
    this.#database = database;
    this.#keepDays = keepDays;
    this.#partitions = new Partitions(database);
    this.#direct = new DirectConnection(direct, hintChannel, clock, {
      onMessage: (payload) => hints.receive(payload),
      onListening: () => {
        this.#stats.listens += 1;
        hints.startListening();
      },
    });
    this.hints = hints;
    this.grants = new PostgresGrants(run, this.#direct, ring, hints, clock);
    this.clients = new PostgresClients(run, ring);
    this.approvals = new PostgresApprovals(run, hints);
    this.definitions = new PostgresDefinitions(database);
    this.configs = new PostgresConfigs(database, hints);
    const ledger = new PostgresLedger(database, this.#partitions, ring, (rows, seconds) => {
      this.#stats.batches += 1;
      this.#stats.batchRows += rows;
      this.#stats.commitSeconds += seconds;
    });
    this.#spooling = spool && new SpoolingLedger(ledger, spool, () => this.check(), clock);
    this.ledger = this.#spooling ?? ledger;
    this.questions = new PostgresQuestions(run, ring, hints);
    this.limits = new PostgresLimits(run);
    this.messages = new PostgresMessages(run, ring, hints);
    this.apiKeys = new PostgresApiKeys(run, hints);
    this.consumed = new PostgresConsumed(run);
    this.revocations = new PostgresRevocations(run, hints);
    this.replicas = new PostgresReplicas(database);
    this.users = new PostgresUsers(run);
  }

  get stats(): StoreStats {
    const { listens, ...written } = this.#stats;
    return {
      ...written,
      isListening: this.#direct.isOpen,
      listenReconnects: Math.max(0, listens - 1),
      spoolRows: this.#spooling?.waiting ?? 0,
    };
  }

  async open(): Promise<void> {
    await this.#direct.open();
    await this.#partitions.makeAhead(Date.now());
    await this.#spooling?.open();
  }

  async check(): Promise<void> {
    await this.#database.run("select 1");
  }

  async maintain(): Promise<void> {
    const now = Date.now();
    await this.#partitions.makeAhead(now);
    await this.ledger.settle(now - settleAfter);
    // Every intent of these hours has a row now.
    await this.#partitions.removeBefore("intents", now - day);
    await this.#partitions.removeBefore("audit", now - this.#keepDays * day);
    for (const statement of expired) await this.#database.run(statement);
  }

  async close(): Promise<void> {
    await this.grants.close();
    await this.ledger.close();
    await this.hints.close();
    await this.#direct.close();
    await this.#database.close();
  }
}

const day = 86_400_000;
/** Milliseconds after which a request without an outcome has none: its replica ended. */
const settleAfter = 600_000;
/** Statements that remove rows that are no longer read. */
const expired = [
  "delete from consumed where until < now()",
  "delete from revocations where until < now()",
  "delete from questions where until < now() - interval '1 day'",
  "delete from messages where until < now()",
  "delete from buckets where at < now() - interval '1 day'",
];
