/** The ledger: the record of every request to a server, with its outcome. Entries are never changed. */

import { createHmac } from "node:crypto";
import { join } from "node:path";
import type { JsonObject } from "@fairlead/wire";
import { type Clock, systemClock } from "../../clock.ts";
import { localKey } from "../../files/secrets/local-key.ts";
import { canonicalJson } from "../../text/canonical-json.ts";
import {
  isAlike,
  keptArguments,
  type LedgerEntry,
  type LineParts,
  lineOf,
  parseLine,
  sharedMembers,
} from "./ledger-entry.ts";
import { createLedgerWriter, type LedgerLimits, readFiles } from "./ledger-files.ts";

/** One request to record. The ledger adds the time and the digest of the arguments. */
export interface LedgerRecord extends Omit<LedgerEntry, "time" | "argumentsDigest"> {
  readonly arguments: JsonObject;
}

/** The folder, the clocks and the limits of a ledger. */
export interface LedgerOptions {
  readonly folder: string;
  /** The current value of `fairlead.audit.arguments`. */
  readonly keepArguments: () => boolean;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
  readonly limits?: LedgerLimits;
  /** Measures how long a batch collects entries. Default: the system's clock. */
  readonly clock?: Clock;
}

/** Selects the entries that `read` returns. */
export interface LedgerSearch {
  readonly matches?: (entry: LedgerEntry) => boolean;
  /** The maximum number of entries to return. The newest are returned. */
  readonly limit?: number;
}

/** Writes and reads the ledger. */
export interface Ledger {
  /** Adds an entry to the next batch, which is written within 40 ms. Rejects if the batch cannot be written. */
  add(record: LedgerRecord): Promise<void>;
  /** Writes an entry and all waiting entries immediately. Rejects if they cannot be written. */
  write(record: LedgerRecord): Promise<void>;
  /** Returns the entries on disk, newest last. */
  read(search?: LedgerSearch): Promise<readonly LedgerEntry[]>;
  /** Writes all waiting entries immediately. Resolves when they are on disk or have failed. */
  close(): Promise<void>;
}

/**
 * A batch collects entries for this many milliseconds. Opening the file for each entry would take longer than the
 * recorded call.
 */
const batchTime = 40;
const batchEntries = 256;
/** The size limit of the ledger. About 80 000 entries of 400 bytes fit into it. */
const usual: LedgerLimits = { fileBytes: 4_194_304, files: 8 };

/** The path of the ledger in the state folder. */
export function ledgerFolder(state: string): string {
  return join(state, "ledger");
}

/** Creates the ledger. Nothing is written or read yet. */
export function createLedger(options: LedgerOptions): Ledger {
  const { folder, keepArguments, now, limits = usual, clock = systemClock } = options;
  const files = createLedgerWriter(folder, limits);
  let key: Promise<Buffer> | undefined;
  /** The batch that collects entries now. */
  let next: Batch | undefined;
  let writing: Promise<void> = Promise.resolve();
  /** The last added entry, as texts. The next entry reuses the texts of members that have the same value. */
  let last: { readonly moment: number; readonly record: LedgerRecord; readonly row: Row } | undefined;

  async function readKey(): Promise<Buffer> {
    key ??= localKey(join(folder, "key"));
    try {
      return await key;
    } catch (error) {
      // The next batch tries again to read or create the key, because the disk may no longer be full.
      key = undefined;
      throw error;
    }
  }

  async function append({ rows }: Batch): Promise<void> {
    const secret = await readKey();
    const digests = new Map<string, string>();
    const lines = rows.map((row) => {
      const digest = digests.get(row.args) ?? digestOf(row.args, secret);
      digests.set(row.args, digest);
      return lineOf(row, digest);
    });
    await files.append(lines);
  }

  /** Converts a record to texts, so that a batch does not keep the record's request and decision in memory. */
  function toRow(record: LedgerRecord): Row {
    const moment = now();
    const { arguments: args, durationMs, confirmationMs } = record;
    const row = {
      time: last?.moment === moment ? last.row.time : toIsoTime(moment),
      args: canonicalJson(args),
      kept: keepArguments() ? keptArguments(args) : "",
      durationMs,
      confirmationMs,
      shared: last !== undefined && isAlike(record, last.record) ? last.row.shared : sharedMembers(record),
    };
    last = { moment, record, row };
    return row;
  }

  function add(record: LedgerRecord): Promise<void> {
    next ??= createBatch(clock, () => void flush());
    const { rows, written } = next;
    rows.push(toRow(record));
    if (rows.length === batchEntries) void flush();
    return written;
  }

  function flush(): Promise<void> {
    const batch = next;
    if (batch === undefined) return writing;
    next = undefined;
    batch.cancelTimer();
    // If a batch fails, the next batch is still written.
    writing = writing.then(() => append(batch)).then(batch.resolve, batch.reject);
    return writing;
  }

  return {
    add,
    close: flush,

    write(record) {
      const written = add(record);
      void flush();
      return written;
    },

    async read({ matches = () => true, limit = Number.POSITIVE_INFINITY } = {}) {
      let found: readonly LedgerEntry[] = [];
      for await (const lines of readFiles(folder)) {
        found = [...lines.flatMap((line) => parseLine(line) ?? []).filter(matches), ...found];
        if (found.length >= limit) break;
      }
      return found.slice(Math.max(0, found.length - limit));
    },
  };
}

interface Row extends LineParts {
  /** The arguments as canonical JSON, for their digest. */
  readonly args: string;
}

interface Batch {
  readonly rows: Row[];
  readonly written: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  readonly cancelTimer: () => void;
}

function createBatch(clock: Clock, onDue: () => void): Batch {
  let resolve: () => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const written = new Promise<void>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  return { rows: [], written, resolve, reject, cancelTimer: clock.after(batchTime, onDue) };
}

/**
 * A digest of the arguments with a secret key. Without a key, an attacker could guess the arguments from their digest.
 */
function digestOf(args: string, key: Buffer): string {
  return createHmac("sha256", key).update(args).digest("hex");
}

function toIsoTime(time: number): string {
  return new Date(time).toISOString();
}
