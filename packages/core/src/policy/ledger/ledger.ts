/** The ledger: the record of every request to a server, with its outcome. Entries are never changed. */

import { createHmac } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { type FileHandle, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@fairlead/wire";
import { type Clock, systemClock } from "../../clock.ts";
import { ensurePrivateFolder, privateFileMode } from "../../files/atomic/private-folder.ts";
import { localKey } from "../../files/secrets/local-key.ts";
import { explain, notRead, notWritten, systemCode, toWriteError, unless } from "../../files/system-error.ts";
import { canonicalJson } from "../../text/canonical-json.ts";
import { Batches } from "./batches.ts";
import {
  isAlike,
  keptArguments,
  type LedgerEntry,
  type LineParts,
  lineOf,
  parseLine,
  sharedMembers,
} from "./ledger-entry.ts";

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
interface LedgerSearch {
  readonly matches?: (entry: LedgerEntry) => boolean;
  /** The maximum number of entries to return. The newest are returned. */
  readonly limit?: number;
  /** Return no entry that is older than this time, in ISO 8601. Files with only older entries are not read. */
  readonly since?: string;
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
  const batches = new Batches<Row>(append, {
    items: batchEntries,
    parallel: 1,
    delay: { clock, milliseconds: batchTime },
  });
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

  async function append(rows: readonly Row[]): Promise<void> {
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
    const { arguments: args, durationMs, confirmationMs, traceId } = record;
    const row = {
      time: last?.moment === moment ? last.row.time : toIsoTime(moment),
      args: canonicalJson(args),
      kept: keepArguments() ? keptArguments(args) : "",
      durationMs,
      confirmationMs,
      traceId,
      shared: last !== undefined && isAlike(record, last.record) ? last.row.shared : sharedMembers(record),
    };
    last = { moment, record, row };
    return row;
  }

  return {
    add: (record) => batches.add(toRow(record)),
    close: () => batches.flush(),

    write(record) {
      const written = batches.add(toRow(record));
      void batches.flush();
      return written;
    },

    async read({ matches = () => true, limit = Number.POSITIVE_INFINITY, since = "" } = {}) {
      let found: readonly LedgerEntry[] = [];
      for await (const lines of readFiles(folder)) {
        const entries = lines.flatMap((line) => parseLine(line) ?? []);
        found = [...entries.filter((entry) => entry.time >= since && matches(entry)), ...found];
        // Each file begins where the one before ends.
        if (found.length >= limit || entries.some(({ time }) => time < since)) break;
      }
      return found.slice(Math.max(0, found.length - limit));
    },
  };
}

interface Row extends LineParts {
  /** The arguments as canonical JSON, for their digest. */
  readonly args: string;
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

/** The maximum size of the ledger. When there are more than `files` files, the oldest are deleted. */
interface LedgerLimits {
  /** When a file has this many bytes, a new file begins. */
  readonly fileBytes: number;
  readonly files: number;
}

/** Appends lines to the ledger's files. */
interface LedgerWriter {
  /**
   * Appends lines to the last numbered file, or to a new file if the last one is full. Several processes may append at
   * the same time, because no process moves or rewrites a file.
   */
  append(lines: readonly string[]): Promise<void>;
}

/** Creates the writer. The folder is created when the first line is written. */
export function createLedgerWriter(folder: string, limits: LedgerLimits): LedgerWriter {
  let last: Written | undefined;

  async function find(text: string): Promise<Written | undefined> {
    await ensurePrivateFolder(folder);
    const numbers = await numbersIn(folder);
    const number = numbers.at(-1) ?? 1;
    const found = await tryAppend(pathOf(folder, number), text, limits.fileBytes);
    if (found !== undefined) return found;
    // If several processes find that the file is full, all of them append to the same new file.
    const next = await tryAppend(pathOf(folder, number + 1), text, Number.POSITIVE_INFINITY);
    const old = numbers.filter((each) => each <= number + 1 - limits.files);
    await Promise.all(old.map((each) => rm(pathOf(folder, each), { force: true })));
    return next;
  }

  return {
    async append(lines) {
      // The empty string adds the line break after the last line. Adding the line break to the joined text would copy
      // that text.
      const text = [...lines, ""].join("\n");
      const before = last;
      last = undefined;
      try {
        /**
         * Listing the folder takes longer than appending a few lines, so it is only listed if the last file is full or
         * was deleted.
         */
        last = (before && appendAgain(before, text, limits.fileBytes)) ?? (await find(text));
      } catch (error) {
        throw toWriteError(folder, error);
      }
    },
  };
}

interface Written {
  readonly path: string;
  readonly size: number;
}

/** Yields the lines of each file, newest file first. */
export async function* readFiles(folder: string): AsyncGenerator<readonly string[]> {
  for (const number of (await numbersIn(folder)).toReversed()) {
    /* Another process may have deleted this file since the folder was listed. */
    const content = await readFile(pathOf(folder, number)).catch(unless("ENOENT"));
    yield content?.toString("utf8").split("\n") ?? [];
  }
}

/**
 * Appends the text with one write, so that the system does not mix it with text from other processes. Returns undefined
 * if the file is full.
 */
async function tryAppend(path: string, text: string, fullAt: number): Promise<Written | undefined> {
  const handle = await open(path, "a+", privateFileMode);
  try {
    const { size } = await handle.stat();
    if (size >= fullAt) return undefined;
    const bytes = Buffer.from(`${(await isTorn(handle, size)) ? "\n" : ""}${text}`);
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten < bytes.length) throw notWritten(path, "the disk is full");
    return { path, size: size + bytesWritten };
  } finally {
    await handle.close();
  }
}

/**
 * Appends the text to a file that this process has written before. Returns undefined if the file is full or was
 * deleted. Synchronous: asynchronous calls would take five times as much CPU time, and a busy gateway writes 25 batches
 * a second.
 */
function appendAgain({ path, size: before }: Written, text: string, fullAt: number): Written | undefined {
  const file = tryOpen(path);
  if (file === undefined) return undefined;
  try {
    const { size } = fstatSync(file);
    if (size >= fullAt) return undefined;
    // If the file still has the size that it had after this process last wrote to it, its last line is complete.
    const isCut = size !== before && size > 0 && !endsLine(file, size);
    const whole = isCut ? `\n${text}` : text;
    const written = writeSync(file, whole);
    if (written < Buffer.byteLength(whole)) throw notWritten(path, "the disk is full");
    return { path, size: size + written };
  } finally {
    closeSync(file);
  }
}

function endsLine(file: number, size: number): boolean {
  const end = Buffer.alloc(1);
  readSync(file, end, 0, 1, size - 1);
  return end.toString() === "\n";
}

function tryOpen(path: string): number | undefined {
  try {
    return openSync(path, existing);
  } catch (error) {
    return unless("ENOENT")(error);
  }
}

/** Flags that open an existing file for appending. If the file does not exist, opening fails. */
const existing = constants.O_RDWR | constants.O_APPEND;

/** Whether the last line is incomplete. A process that stops while it writes leaves such a line. */
async function isTorn(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString() !== "\n";
}

async function numbersIn(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return [];
    throw notRead(folder, explain(error), error);
  });
  return names.flatMap((name) => (/^\d{6}\.jsonl$/.test(name) ? Number(name.slice(0, 6)) : [])).sort((a, b) => a - b);
}

function pathOf(folder: string, number: number): string {
  return join(folder, `${String(number).padStart(6, "0")}.jsonl`);
}
