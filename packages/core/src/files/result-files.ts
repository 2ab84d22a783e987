/** Stores results that are too large for a model in files. Finds and removes such files. */

import { randomUUID } from "node:crypto";
import { lstat, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateFolder, privateFileMode } from "./atomic/private-folder.ts";
import { toWriteError, unless } from "./system-error.ts";

export interface ResultFile {
  /** The file's extension, from a fixed list: a server must not choose any part of a file name. */
  readonly extension: string;
  readonly data: string;
  readonly encoding: "utf8" | "base64";
}

/** How many files and bytes stay stored, and for how long. */
export interface ResultFileLimits {
  readonly files: number;
  readonly bytes: number;
  readonly milliseconds: number;
}

const defaultLimits: ResultFileLimits = {
  files: 500,
  bytes: 1_000_000_000,
  milliseconds: 7 * 24 * 60 * 60 * 1000,
};

export interface StoredFile {
  /** A random id, which is part of the file name. */
  readonly id: string;
  readonly path: string;
}

const folderIn = (state: string): string => join(state, "results");

/** Stores a result in a file that only the user can read. */
export async function keepResult(
  state: string,
  { extension, data, encoding }: ResultFile,
  limits: ResultFileLimits = defaultLimits,
): Promise<StoredFile> {
  const folder = folderIn(state);
  await ensurePrivateFolder(folder);
  const time = new Date().toISOString().replaceAll(/[:.]/g, "-");
  const id = randomUUID().replaceAll("-", "").slice(0, 12);
  const name = `${time}-${id}.${extension}`;
  const path = join(folder, name);
  try {
    await writeNew(path, data, encoding);
  } catch (error) {
    throw toWriteError(path, error);
  }
  // An error is ignored: the new result is stored, even if older ones cannot be removed.
  await sweep(folder, name, limits).catch(() => undefined);
  return { id, path };
}

/** Returns the stored files with these ids that still exist. */
export async function findResults(state: string, ids: ReadonlySet<string>): Promise<readonly StoredFile[]> {
  const folder = folderIn(state);
  return (await namesIn(folder)).flatMap((name) => {
    const id = ours.exec(name)?.[1];
    return id !== undefined && ids.has(id) ? [{ id, path: join(folder, name) }] : [];
  });
}

/**
 * Removes the files that were stored before the time `before` (milliseconds since 1970). With `dryRun`, only counts
 * them. Returns their number and total size.
 */
export async function removeResults(
  state: string,
  before: number,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<{ readonly files: number; readonly bytes: number }> {
  const folder = folderIn(state);
  const removed = { files: 0, bytes: 0 };
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const stats = await lstat(path).catch(unless("ENOENT"));
    if (stats?.isFile() !== true || stats.mtimeMs >= before) continue;
    if (!dryRun) await rm(path, { force: true });
    removed.files += 1;
    removed.bytes += stats.size;
  }
  return removed;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder).catch(unless("ENOENT", "ENOTDIR"))) ?? [];
  return names.filter((name) => ours.test(name));
}

async function writeNew(path: string, data: string, encoding: BufferEncoding): Promise<void> {
  const handle = await open(path, "wx", privateFileMode);
  try {
    await handle.writeFile(data, encoding);
  } catch (error) {
    // An incomplete file would look complete.
    await rm(path, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/** Matches the names of files that Fairlead stored. A name begins with the time, so the names sort by age. */
const ours = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-([0-9a-f]{8,12})[.][a-z0-9]{1,8}$/;

/** Deletes the oldest files until the rest is within the limits. The newest file always stays. */
async function sweep(folder: string, newest: string, limits: ResultFileLimits): Promise<void> {
  const names = (await namesIn(folder)).filter((name) => name !== newest);
  let files = 1;
  let bytes = (await lstat(join(folder, newest)).catch(unless("ENOENT")))?.size ?? 0;
  for (const name of names.sort().reverse()) {
    const path = join(folder, name);
    const stats = await lstat(path).catch(unless("ENOENT"));
    if (stats?.isFile() !== true) continue;
    files += 1;
    bytes += stats.size;
    const isOld = Date.now() - stats.mtimeMs > limits.milliseconds;
    if (isOld || files > limits.files || bytes > limits.bytes) await rm(path, { force: true });
  }
}
