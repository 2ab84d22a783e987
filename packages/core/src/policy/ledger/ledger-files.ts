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

/**
 * Appends lines to the last numbered file, or to a new file if the last one is full. If there are too many files,
 * deletes the oldest. Several processes may append at once, because none of them moves or rewrites a file.
 */
export async function appendLines(folder: string, lines: readonly string[], limits: LedgerLimits): Promise<void> {
  await ensurePrivateFolder(folder);
  const numbers = await numbersIn(folder);
  const last = numbers.at(-1) ?? 1;
  const text = `${lines.join("\n")}\n`;
  try {
    if (await tryAppend(pathOf(folder, last), text, limits.fileBytes)) return;
    // Other processes that also find this file full append to the same next file, which cannot be full yet.
    await tryAppend(pathOf(folder, last + 1), text, Number.POSITIVE_INFINITY);
    const old = numbers.filter((number) => number <= last + 1 - limits.files);
    await Promise.all(old.map((number) => rm(pathOf(folder, number), { force: true })));
  } catch (error) {
    throw toWriteError(folder, error);
  }
}

/** Yields the lines of each file, newest file first. */
export async function* readFiles(folder: string): AsyncGenerator<readonly string[]> {
  for (const number of (await numbersIn(folder)).toReversed()) {
    /*
     * Another process may have deleted this file since the folder was listed, because it was the oldest. If a process
     * stopped in the middle of a line, the half character at its end becomes U+FFFD; the other lines are not affected.
     */
    const content = await readFile(pathOf(folder, number)).catch(unless("ENOENT"));
    yield content?.toString("utf8").split("\n") ?? [];
  }
}

/**
 * Appends with one write, so that the system does not mix it with the writes of other processes. Returns false if the
 * file is full.
 */
async function tryAppend(path: string, text: string, fullAt: number): Promise<boolean> {
  const handle = await open(path, "a+", privateFileMode);
  try {
    const { size } = await handle.stat();
    if (size >= fullAt) return false;
    const bytes = Buffer.from(`${(await isTorn(handle, size)) ? "\n" : ""}${text}`);
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten < bytes.length) throw notWritten(path, "the disk is full");
    return true;
  } finally {
    await handle.close();
  }
}

/** Whether the last line is incomplete, because a process stopped while it wrote the line. */
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
