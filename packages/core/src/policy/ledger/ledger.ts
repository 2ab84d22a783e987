/** The ledger: records every request to a server with its outcome. Entries are only ever appended. */

import { createHmac } from "node:crypto";
import { join } from "node:path";
import type { JsonObject } from "@fairlead/wire";
import { localKey } from "../../files/secrets/local-key.ts";
import { canonicalJson } from "../../text/canonical-json.ts";
import { type LedgerEntry, parseLine, toLine } from "./ledger-entry.ts";
import { appendLine, type LedgerLimits, readFiles } from "./ledger-files.ts";

/** One request to record. The ledger adds the time and the digest of the arguments. */
export interface LedgerRecord extends Omit<LedgerEntry, "time" | "argumentsDigest"> {
  readonly arguments: JsonObject;
}

/** Options of `createLedger`. */
export interface LedgerOptions {
  readonly folder: string;
  /** The current value of `fairlead.audit.arguments`. */
  readonly keepArguments: () => boolean;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
  readonly limits?: LedgerLimits;
}

/** Which entries `read` returns. */
export interface LedgerSearch {
  readonly matches?: (entry: LedgerEntry) => boolean;
  /** The number of newest entries to return. */
  readonly limit?: number;
}

/** Writes and reads the ledger. */
export interface Ledger {
  /** Writes entries in the order of the calls. Rejects if the entry cannot be written. */
  write(record: LedgerRecord): Promise<void>;
  /** Returns the entries, newest last. */
  read(search?: LedgerSearch): Promise<readonly LedgerEntry[]>;
  /** Resolves when all entries are on disk. */
  close(): Promise<void>;
}

/** About 80 000 entries of 400 bytes. */
const usual: LedgerLimits = { fileBytes: 4_194_304, files: 8 };

/** The folder of the ledger's files. */
export function ledgerFolder(state: string): string {
  return join(state, "ledger");
}

/** Opens a ledger. */
export function createLedger({ folder, keepArguments, now, limits = usual }: LedgerOptions): Ledger {
  let key: Promise<Buffer> | undefined;
  let last: Promise<void> = Promise.resolve();

  async function readKey(): Promise<Buffer> {
    key ??= localKey(join(folder, "key"));
    try {
      return await key;
    } catch (error) {
      // Tried again with the next entry: the disk may have space then.
      key = undefined;
      throw error;
    }
  }

  async function append({ arguments: args, ...record }: LedgerRecord, time: string): Promise<void> {
    const argumentsDigest = digestOf(args, await readKey());
    const kept = keepArguments() ? { arguments: args } : {};
    await appendLine(folder, toLine({ time, ...record, argumentsDigest, ...kept }), limits);
  }

  return {
    write(record) {
      const time = new Date(now()).toISOString();
      const written = last.then(() => append(record, time));
      // A failed write does not stop the next one.
      last = written.catch(() => {});
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

    close: () => last,
  };
}

/** Keyed, because a plain digest would let its finder guess the arguments. */
function digestOf(args: JsonObject, key: Buffer): string {
  return createHmac("sha256", key).update(canonicalJson(args)).digest("hex");
}
