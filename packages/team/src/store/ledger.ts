/** The ledger of the team: one row for each request of each user, and intents of calls that are about to be sent. */

import { randomBytes } from "node:crypto";
import type { LedgerEntry } from "@fairlead/core/policy";
import type { Owner } from "./owner.ts";

/** A call that is about to be sent. Without a row of the same id, its outcome is unknown. */
export interface Intent {
  /** UUID version 7 of the request (`newRequestId`). Its time is the time of the row. */
  readonly id: string;
  readonly owner: Owner;
  /** 0: no replica, but an operator with access to the database. */
  readonly replica: number;
  /** `admin`: a change of policy, keys or users. */
  readonly kind: LedgerEntry["kind"] | "admin";
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
      | "client"
      | "arguments"
      | "decision"
      | "rule"
      | "ruleOrigin"
      | "mode"
      | "answer"
      | "answeredIn"
      | "refusal"
      | "durationMs"
      | "confirmationMs"
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
  readonly outcome?: string;
  readonly kind?: AuditRow["kind"];
  /** In milliseconds since 1970. */
  readonly since?: number;
  readonly until?: number;
  /** Only rows that are older than this one: the last row of the page before. */
  readonly before?: Pick<ReadRow, "at" | "id">;
  readonly limit: number;
}

/** What rows can be counted by. */
export type CountedBy = "principal" | "client" | "server" | "tool" | "kind" | "mode" | "outcome";

/** How many rows are equal in what they are counted by. */
export interface RowCount extends Partial<Record<CountedBy, string | undefined>> {
  readonly count: number;
  /** When the latest of them came, in milliseconds since 1970. */
  readonly latest: number;
}

export interface LedgerStore {
  /** Resolves when the intent is durable. The call must not be sent before. */
  begin(intent: Intent): Promise<void>;
  /**
   * Resolves when the row is durable. The answer must not leave before. The same id is stored once; a row replaces only
   * the one with the outcome `unknown` that its intent became meanwhile.
   */
  record(row: AuditRow): Promise<void>;
  /** The matching rows, newest first. */
  read(search: LedgerSearch): Promise<readonly ReadRow[]>;
  /** Counts the matching rows, the most frequent first. */
  count(search: LedgerSearch, by: readonly CountedBy[]): Promise<readonly RowCount[]>;
  /**
   * Makes rows with the outcome `unknown` of intents without a row that are older than this time. Returns how many.
   * `TeamStore.maintain` does this for intents of more than ten minutes.
   */
  settle(before: number): Promise<number>;
  /** Resolves when everything that was recorded is durable or has failed. */
  close(): Promise<void>;
}

/** A UUID of version 7: its first 48 bits are the time. */
export function newRequestId(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The time in the id of a request, in milliseconds since 1970. Undefined if it is no UUID of version 7. */
export function timeOfRequest(id: string): number | undefined {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)) return undefined;
  return Number.parseInt(id.replace("-", "").slice(0, 12), 16);
}
