/** The numbered files of the ledger. Several processes may append to them. */

import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { type FileHandle, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateFolder, privateFileMode } from "../../files/atomic/private-folder.ts";
import { notWritten, toWriteError, unless } from "../../files/system-error.ts";

/** The maximum size of the ledger. When there are more than `files` files, the oldest are deleted. */
export interface LedgerLimits {
  /** When a file has this many bytes, a new file begins. */
  readonly fileBytes: number;
  readonly files: number;
}

/** Appends lines to the ledger's files. */
export interface LedgerWriter {
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
  const names = (await readdir(folder).catch(unless("ENOENT"))) ?? [];
  return names.flatMap((name) => (/^\d{6}\.jsonl$/.test(name) ? Number(name.slice(0, 6)) : [])).sort((a, b) => a - b);
}

function pathOf(folder: string, number: number): string {
  return join(folder, `${String(number).padStart(6, "0")}.jsonl`);
}
