/** The ledger of the team: one row for each request of each user, and intents of calls that are about to be sent. */

import type { LedgerEntry } from "@fairlead/core/policy";
import type { Owner } from "./owner.ts";

/** A call that is about to be sent. Without a row of the same id, its outcome is unknown. */
export interface Intent {
  /** UUID version 7 of the request. Its time says in which partition the row is. */
  readonly id: string;
  readonly owner: Owner;
  readonly replica: number;
  readonly server: string;
  readonly tool: string;
  /** A keyed digest of the arguments, equal on all replicas. */
  readonly argsDigest: Buffer;
}

/** A row of the ledger. */
export interface AuditRow
  extends Intent,
    Pick<
      LedgerEntry,
      "client" | "kind" | "arguments" | "decision" | "rule" | "ruleOrigin" | "mode" | "answer" | "durationMs"
    > {
  /** `unknown`: the replica ended before it could say. */
  readonly outcome: LedgerEntry["outcome"] | "unknown";
  /** The version of policy and settings that decided. */
  readonly configVersion: number;
  /** The trace of the request, in hex. */
  readonly traceId?: string;
}

/** A row as it is read. */
export interface ReadRow extends AuditRow {
  /** When the request came, in milliseconds since 1970. */
  readonly at: number;
}

export interface LedgerSearch {
  readonly tenant: number;
  readonly principal?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly traceId?: string;
  /** In milliseconds since 1970. */
  readonly since?: number;
  readonly until?: number;
  readonly limit: number;
}

export interface LedgerStore {
  /** Resolves when the intent is durable. The call must not be sent before. */
  begin(intent: Intent): Promise<void>;
  /** Resolves when the row is durable. The answer must not leave before. The same id is stored once. */
  record(row: AuditRow): Promise<void>;
  /** The matching rows, newest first. */
  read(search: LedgerSearch): Promise<readonly ReadRow[]>;
  /** Intents without a row that are older than this time, as rows with the outcome `unknown`. Returns how many. */
  settle(before: number): Promise<number>;
  /** Removes rows and intents that are older than the limits. */
  expire(): Promise<void>;
  /** Resolves when everything that was recorded is durable or has failed. */
  close(): Promise<void>;
}
