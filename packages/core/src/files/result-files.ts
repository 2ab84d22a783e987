/** Stores results that are too large for a model in files for the user; removes the oldest. */

import { randomUUID } from "node:crypto";
import { lstat, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateFolder, privateFileMode } from "./atomic/private-folder.ts";
import { toWriteError, unless } from "./system-error.ts";

export interface ResultFile {
  /** One of a fixed set: no part of a file name comes from a server. */
  readonly extension: string;
  readonly data: string;
  readonly encoding: "utf8" | "base64";
}

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

/** Stores a result and returns the path of its file. */
export async function keepResult(
  state: string,
  { extension, data, encoding }: ResultFile,
  limits: ResultFileLimits = defaultLimits,
): Promise<string> {
  const folder = join(state, "results");
  await ensurePrivateFolder(folder);
  const time = new Date().toISOString().replaceAll(/[:.]/g, "-");
  const name = `${time}-${randomUUID().slice(0, 8)}.${extension}`;
  const path = join(folder, name);
  try {
    await writeNew(path, data, encoding);
  } catch (error) {
    throw toWriteError(path, error);
  }
  await sweep(folder, name, limits);
  return path;
}

async function writeNew(path: string, data: string, encoding: BufferEncoding): Promise<void> {
  const handle = await open(path, "wx", privateFileMode);
  try {
    await handle.writeFile(data, encoding);
  } catch (error) {
    // Remove a partly written file, which would look complete.
    await rm(path, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/** Names begin with the time, so they sort by age. */
const ours = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-[0-9a-f]{8}[.][a-z0-9]{1,8}$/;

/** Deletes only files whose names Fairlead made. The newest file counts first and is kept, whatever its size. */
async function sweep(folder: string, newest: string, limits: ResultFileLimits): Promise<void> {
  const names = (await readdir(folder)).filter((name) => ours.test(name) && name !== newest);
  let files = 1;
  let bytes = (await lstat(join(folder, newest))).size;
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
