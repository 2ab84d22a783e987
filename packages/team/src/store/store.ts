/** Everything that the replicas of a team share: one port for each concern. */

import { HostError } from "@fairlead/core";
import type { ApiKeyStore } from "./api-keys.ts";
import type { UserApprovalStore } from "./approvals.ts";
import type { ClientStore } from "./clients.ts";
import type { ConfigStore } from "./configs.ts";
import type { ConsumedStore } from "./consumed.ts";
import type { DefinitionStore } from "./definitions.ts";
import type { GrantStore } from "./grants.ts";
import type { Hints } from "./hints.ts";
import type { LedgerStore } from "./ledger.ts";
import type { LimitStore } from "./limits.ts";
import type { MessageStore } from "./messages.ts";
import type { QuestionStore } from "./questions.ts";
import type { ReplicaStore } from "./replicas.ts";
import type { UserRevocationStore } from "./revocations.ts";
import type { UserStore } from "./users.ts";

/** If the store is away, its functions reject with `unreachable` within a few seconds. */
export interface TeamStore {
  readonly grants: GrantStore;
  readonly clients: ClientStore;
  readonly approvals: UserApprovalStore;
  readonly definitions: DefinitionStore;
  readonly configs: ConfigStore;
  readonly ledger: LedgerStore;
  readonly questions: QuestionStore;
  readonly limits: LimitStore;
  readonly messages: MessageStore;
  readonly apiKeys: ApiKeyStore;
  readonly consumed: ConsumedStore;
  readonly revocations: UserRevocationStore;
  readonly replicas: ReplicaStore;
  readonly users: UserStore;
  readonly hints: Hints;
  readonly stats: StoreStats;
  /** Resolves if the store answers now. */
  check(): Promise<void>;
  /**
   * Does what has to be done from time to time: makes partitions, settles intents of more than ten minutes, and removes
   * what is older than its limit. Call it once a minute on every replica; what one replica does, the others leave.
   */
  maintain(): Promise<void>;
  /** Writes what waits, then closes all connections. */
  close(): Promise<void>;
}

/** What a store has done since it was opened. */
export interface StoreStats {
  /** Batches of rows and intents that were committed, the rows and intents in them, and the seconds that it took. */
  readonly batches: number;
  readonly batchRows: number;
  readonly commitSeconds: number;
  /** Whether notifications arrive now. */
  readonly isListening: boolean;
  /** How often notifications began again, because the connection was lost. */
  readonly listenReconnects: number;
  /** Rows and intents that wait on this replica's disk, because the store is away. */
  readonly spoolRows: number;
}

/** Whether an error says that the store is away. What was to be stored may be stored or not. */
export function isStoreAway(error: unknown): boolean {
  return error instanceof HostError && error.code === "unreachable";
}
