/**
 * The ledger on the disk: numbered files of lines, of which only the last is added to and the oldest goes when there are
 * too many. Several processes may do so at once: none of them moves or rewrites what another may be writing to.
 */

import { type FileHandle, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateFolder, privateFileMode } from "../../files/atomic/private-folder.ts";
import { notWritten, toWriteError, unless } from "../../files/system-error.ts";

export interface LedgerLimits {
  /** Full is a file that has reached this. */
  readonly fileBytes: number;
  readonly files: number;
}

export async function appendLine(folder: string, line: string, limits: LedgerLimits): Promise<void> {
  await ensurePrivateFolder(folder);
  const numbers = await numbersIn(folder);
  const last = numbers.at(-1) ?? 1;
  try {
    if (await tryAppend(pathOf(folder, last), line, limits.fileBytes)) return;
    // Whoever else finds it full goes on in the same next file; that one cannot be full as well.
    await tryAppend(pathOf(folder, last + 1), line, Number.POSITIVE_INFINITY);
    const old = numbers.filter((number) => number <= last + 1 - limits.files);
    await Promise.all(old.map((number) => rm(pathOf(folder, number), { force: true })));
  } catch (error) {
    throw toWriteError(folder, error);
  }
}

/** Newest file first, each from its first line to its last. */
export async function* readFiles(folder: string): AsyncGenerator<readonly string[]> {
  for (const number of (await numbersIn(folder)).toReversed()) {
    // Gone meanwhile: it was the oldest. A line that was torn in the middle of a character spoils no other.
    const content = await readFile(pathOf(folder, number)).catch(unless("ENOENT"));
    yield content?.toString("utf8").split("\n") ?? [];
  }
}

/** One write for one entry: the system puts it at the end, whole, whoever else writes. `false`: the file is full. */
async function tryAppend(path: string, line: string, fullAt: number): Promise<boolean> {
  const handle = await open(path, "a+", privateFileMode);
  try {
    const { size } = await handle.stat();
    if (size >= fullAt) return false;
    const bytes = Buffer.from(`${(await isTorn(handle, size)) ? "\n" : ""}${line}\n`);
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten < bytes.length) throw notWritten(path, "the disk is full");
    return true;
  } finally {
    await handle.close();
  }
}

/** Whether somebody was stopped in the middle of a line: ours must not be glued to it. */
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
