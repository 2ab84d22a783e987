/**
 * Rows and intents that wait on this replica's disk until the store is back. They are encrypted, and are written through
 * to the disk before the request goes on. Each replica has a folder of its own, on a volume that outlives it.
 */

import { type FileHandle, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { HostError } from "@fairlead/core";
import { ensurePrivateFolder, type HeldLock, privateFileMode, toWriteError, tryLock } from "@fairlead/core/files";
import { Batches } from "@fairlead/core/policy";
import { decryptRow, encryptRow } from "./encryption.ts";
import type { KeyRing } from "./key-ring.ts";
import type { AuditRow, Intent } from "./ledger.ts";

/** What waits: an intent, or the row of a request. */
export type SpooledEntry =
  | { readonly kind: "intent"; readonly intent: Intent }
  | { readonly kind: "row"; readonly row: AuditRow };

/** Bytes of all files together. A replica that has written so much refuses requests. */
const mostBytes = 104_857_600;
/** A file with so many bytes is full. A replay reads one file at a time. */
const fileBytes = 4_194_304;
const bound = ["spool"];

export class Spool {
  readonly #folder: string;
  readonly #ring: KeyRing;
  readonly #mostBytes: number;
  readonly #lock: HeldLock;
  readonly #batches = new Batches<string>((lines) => this.#inTurn(() => this.#write(lines)), {
    items: 500,
    parallel: 1,
  });
  /** The files, by their numbers. The entries of files from an earlier run are not counted before they are read. */
  readonly #files: Map<number, SpoolFile>;
  #current: { readonly number: number; readonly handle: FileHandle } | undefined;
  /** What is done with the current file is done one after the other. */
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(
    folder: string,
    ring: KeyRing,
    limits: { readonly mostBytes: number },
    held: { readonly lock: HeldLock; readonly files: Map<number, SpoolFile> },
  ) {
    this.#folder = folder;
    this.#ring = ring;
    this.#mostBytes = limits.mostBytes;
    this.#lock = held.lock;
    this.#files = held.files;
  }

  /** @throws HostError `busy` if another replica uses the folder */
  static async open(
    folder: string,
    ring: KeyRing,
    limits: { readonly mostBytes: number } = { mostBytes },
  ): Promise<Spool> {
    try {
      await ensurePrivateFolder(folder);
    } catch (error) {
      throw toWriteError(folder, error);
    }
    const lock = await tryLock(join(folder, "spool"));
    if (lock === undefined)
      throw new HostError("busy", `the spool folder ${folder} is in use: another replica writes to it`, {
        next: "Give each replica a spool folder of its own.",
      });
    return new Spool(folder, ring, limits, { lock, files: await filesIn(folder) });
  }

  /** How many entries wait. */
  get entries(): number {
    return [...this.#files.values()].reduce((sum, { entries }) => sum + entries, 0);
  }

  /** Resolves when the entry is on the disk. Rejects with `unreachable` if there is no space for it. */
  async add(entry: SpooledEntry): Promise<void> {
    const line = encryptRow(this.#ring, bound, toText(entry)).toString("base64");
    await this.#batches.add(line);
  }

  /**
   * Gives everything that waits to `store`, file by file, and removes what is stored. What is added meanwhile waits for the
   * next replay. Returns how many entries were stored.
   */
  async replay(store: (entries: readonly SpooledEntry[]) => Promise<void>): Promise<number> {
    await this.#inTurn(() => this.#endFile());
    let count = 0;
    for (const number of [...this.#files.keys()].toSorted((one, other) => one - other)) {
      if (number === this.#current?.number) break;
      const path = this.#path(number);
      const { entries, isReadable } = this.#parse(await readFile(path, "utf8"));
      await store(entries);
      count += entries.length;
      // What no key of the ring opens is kept for the person who has the key.
      if (isReadable) await rm(path);
      else await rename(path, `${path}.unreadable`);
      this.#files.delete(number);
    }
    return count;
  }

  async close(): Promise<void> {
    await this.#batches.flush();
    await this.#inTurn(() => this.#endFile());
    await this.#lock.release();
  }

  async #write(lines: readonly string[]): Promise<void> {
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    const used = [...this.#files.values()].reduce((sum, { size }) => sum + size, 0);
    if (used + bytes.length > this.#mostBytes)
      throw new HostError("unreachable", "PostgreSQL is not reachable, and the spool is full", {
        next: "Start PostgreSQL. What the spool contains is stored then.",
      });
    try {
      const { number, handle } = this.#current ?? (await this.#begin());
      const { size, entries } = this.#files.get(number) ?? noEntries;
      await handle.write(bytes, 0, bytes.length, size);
      await handle.datasync();
      const file = { size: size + bytes.length, entries: entries + lines.length };
      this.#files.set(number, file);
      if (file.size >= fileBytes) await this.#endFile();
    } catch (error) {
      // A line that was written in part must be the last one of its file.
      await this.#endFile();
      throw new HostError("unreachable", "PostgreSQL is not reachable, and the spool cannot be written", {
        cause: toWriteError(this.#folder, error),
      });
    }
  }

  async #begin(): Promise<{ readonly number: number; readonly handle: FileHandle }> {
    const number = Math.max(0, ...this.#files.keys()) + 1;
    const handle = await open(this.#path(number), "wx", privateFileMode);
    this.#current = { number, handle };
    this.#files.set(number, noEntries);
    // The name of the file must be on the disk too.
    const folder = await open(this.#folder, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
    return this.#current;
  }

  async #endFile(): Promise<void> {
    const { handle } = this.#current ?? {};
    this.#current = undefined;
    await handle?.close();
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** A last line without its end was not finished, so its request has not gone on. */
  #parse(text: string): { readonly entries: readonly SpooledEntry[]; readonly isReadable: boolean } {
    const texts = text
      .split("\n")
      .slice(0, -1)
      .map((line) => decryptRow(this.#ring, bound, Buffer.from(line, "base64")));
    return {
      entries: texts.flatMap((each) => (each === undefined ? [] : [fromText(each)])),
      isReadable: texts.every((each) => each !== undefined),
    };
  }

  #path(number: number): string {
    return join(this.#folder, `${String(number).padStart(8, "0")}.spool`);
  }
}

interface SpoolFile {
  readonly size: number;
  readonly entries: number;
}

const noEntries: SpoolFile = { size: 0, entries: 0 };

async function filesIn(folder: string): Promise<Map<number, SpoolFile>> {
  const names = (await readdir(folder)).filter((name) => /^\d{8}\.spool$/.test(name));
  const files = names.map(async (name) => {
    const { size } = await stat(join(folder, name));
    return [Number(name.slice(0, 8)), { size, entries: 0 }] as const;
  });
  return new Map(await Promise.all(files));
}

/** JSON has no bytes: the digest of the arguments becomes hex. */
function toText(entry: SpooledEntry): string {
  return JSON.stringify(entry, (key, value: unknown) =>
    key === "argsDigest" ? digestOf(entry).toString("hex") : value,
  );
}

function digestOf(entry: SpooledEntry): Buffer {
  return entry.kind === "intent" ? entry.intent.argsDigest : entry.row.argsDigest;
}

/** Only this program writes encrypted entries, so they have the type that they say. */
function fromText(text: string): SpooledEntry {
  const entry = JSON.parse(text) as SpooledEntry;
  const argsDigest = Buffer.from(String(digestOf(entry)), "hex");
  return entry.kind === "intent"
    ? { kind: "intent", intent: { ...entry.intent, argsDigest } }
    : { kind: "row", row: { ...entry.row, argsDigest } };
}
