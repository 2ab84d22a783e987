/** What was asked of servers, and what came of it, for whoever wants to know later. It is only ever added to. */

import { createHmac } from "node:crypto";
import { join } from "node:path";
import type { JsonObject } from "@fairlead/wire";
import { localKey } from "../../files/secrets/local-key.ts";
import { canonicalJson } from "../../text/canonical-json.ts";
import { type LedgerEntry, parseLine, toLine } from "./ledger-entry.ts";
import { appendLine, type LedgerLimits, readFiles } from "./ledger-files.ts";

/** What a host tells the ledger: the time, and what may be kept of the arguments, is the ledger's affair. */
export interface LedgerRecord extends Omit<LedgerEntry, "time" | "argumentsDigest"> {
  readonly arguments: JsonObject;
}

export interface LedgerOptions {
  readonly folder: string;
  /** `fairlead.audit.arguments`, as it is now. */
  readonly keepArguments: () => boolean;
  /** Milliseconds since 1970. */
  readonly today: () => number;
  readonly limits?: LedgerLimits;
}

export interface LedgerSearch {
  readonly matches?: (entry: LedgerEntry) => boolean;
  /** So many, the newest. */
  readonly limit?: number;
}

export interface Ledger {
  /** One after the other, in the order of the calls. Rejects if the entry could not be written. */
  write(record: LedgerRecord): Promise<void>;
  /** Newest last. */
  read(search?: LedgerSearch): Promise<readonly LedgerEntry[]>;
  /** Resolves when all that was written is on the disk. */
  close(): Promise<void>;
}

/** With about 400 bytes an entry, some 80 000 of them. */
const usual: LedgerLimits = { fileBytes: 4_194_304, files: 8 };

export function ledgerFolder(state: string): string {
  return join(state, "ledger");
}

export function createLedger({ folder, keepArguments, today, limits = usual }: LedgerOptions): Ledger {
  let key: Promise<Buffer> | undefined;
  let last: Promise<void> = Promise.resolve();

  async function readKey(): Promise<Buffer> {
    key ??= localKey(join(folder, "key"));
    try {
      return await key;
    } catch (error) {
      // Perhaps the disk is full now, and will not be at the next call.
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
      const time = new Date(today()).toISOString();
      const written = last.then(() => append(record, time));
      // That one was not written is no reason not to write the next.
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

/** Keyed, because a plain digest would let who finds it try out what the arguments may have been. */
function digestOf(args: JsonObject, key: Buffer): string {
  return createHmac("sha256", key).update(canonicalJson(args)).digest("hex");
}
