/** The numbered files of the ledger, to which several processes may append. */

import { type FileHandle, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateFolder, privateFileMode } from "../../files/atomic/private-folder.ts";
import { notWritten, toWriteError, unless } from "../../files/system-error.ts";

export interface LedgerLimits {
  /** The size at which a file is full. */
  readonly fileBytes: number;
  readonly files: number;
}

/** Appends to the ledger. */
export interface LedgerAppender {
  /** Appends whole lines and leaves the file open. */
  append(text: string): Promise<void>;
  close(): Promise<void>;
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly path: string;
  /** Where our last line ended: a file that ends there is not torn. */
  end: number;
}

/**
 * Appends lines to the last numbered file, or to a new one if the last is full; deletes the oldest if there are too
 * many. Several processes may append at once, because none of them moves or rewrites a file.
 */
export function createAppender(folder: string, limits: LedgerLimits): LedgerAppender {
  let file: OpenFile | undefined;

  async function close(): Promise<void> {
    const { handle } = file ?? {};
    file = undefined;
    await handle?.close();
  }

  /** Appends with one write, which the system does not mix with the writes of other processes. `false`: the file is full. */
  async function tryAppend({ handle, path, end }: OpenFile, text: string, fullAt: number): Promise<boolean> {
    const { size, nlink } = await handle.stat();
    // Nobody would find lines in a file that was deleted meanwhile.
    if (size >= fullAt || nlink === 0) return false;
    const isTorn = size !== end && (await endsInsideLine(handle, size));
    const bytes = Buffer.from(isTorn ? `\n${text}` : text);
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten < bytes.length) throw notWritten(path, "the disk is full");
    if (file !== undefined) file.end = size + bytes.length;
    return true;
  }

  async function appendTo(path: string, text: string, fullAt: number): Promise<boolean> {
    file = { handle: await open(path, "a+", privateFileMode), path, end: 0 };
    if (await tryAppend(file, text, fullAt)) return true;
    await close();
    return false;
  }

  async function appendToLast(text: string): Promise<void> {
    const numbers = await numbersIn(folder);
    const last = numbers.at(-1) ?? 1;
    if (await appendTo(pathOf(folder, last), text, limits.fileBytes)) return;
    // Other processes that find this file full append to the same next file. That file is new, so it cannot be full.
    await appendTo(pathOf(folder, last + 1), text, Number.POSITIVE_INFINITY);
    const old = numbers.filter((number) => number <= last + 1 - limits.files);
    await Promise.all(old.map((number) => rm(pathOf(folder, number), { force: true })));
  }

  return {
    close,
    async append(text) {
      try {
        if (file !== undefined && (await tryAppend(file, text, limits.fileBytes))) return;
        await close();
        await ensurePrivateFolder(folder);
        await appendToLast(text);
      } catch (error) {
        await close().catch(() => undefined);
        throw toWriteError(folder, error);
      }
    },
  };
}

/** Yields the lines of each file, newest file first. */
export async function* readFiles(folder: string): AsyncGenerator<readonly string[]> {
  for (const number of (await numbersIn(folder)).toReversed()) {
    // Another process may have deleted this file after the folder was listed, because it was the oldest. A line that a
    // process did not finish may end in half a character, which decodes to U+FFFD and leaves the other lines intact.
    const content = await readFile(pathOf(folder, number)).catch(unless("ENOENT"));
    yield content?.toString("utf8").split("\n") ?? [];
  }
}

/** Whether the last line is incomplete because a process was stopped while writing. */
async function endsInsideLine(handle: FileHandle, size: number): Promise<boolean> {
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
