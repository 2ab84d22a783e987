/** Removes recordings: those that the user names, and the oldest if there are too many. */

import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { tryLock } from "../files/atomic/lock.ts";
import { unless } from "../files/system-error.ts";
import { recordingsIn } from "./list-conversations.ts";
import { mediaFolder, recordingPath } from "./recording-file.ts";

export interface RecordingLimits {
  readonly conversations: number;
  /** Bytes of all recordings with their media. */
  readonly bytes: number;
}

const defaultLimits: RecordingLimits = { conversations: 1_000, bytes: 2_000_000_000 };

/** Removes a recording with its media. Returns false if a process has it open. */
export async function removeConversation(folder: string, id: string): Promise<boolean> {
  const path = recordingPath(folder, id);
  const lock = await tryLock(path);
  if (lock === undefined) return false;
  try {
    await rm(path, { force: true });
    await rm(mediaFolder(path), { recursive: true, force: true });
    return true;
  } finally {
    await lock.release();
  }
}

/** Removes the oldest recordings above the limits. The newest is kept, whatever its size. */
export async function rotateConversations(folder: string, limits: RecordingLimits = defaultLimits): Promise<void> {
  let count = 0;
  let bytes = 0;
  for (const recording of await recordingsIn(folder)) {
    count += 1;
    bytes += recording.bytes + (await bytesIn(mediaFolder(recordingPath(folder, recording.id))));
    if (count > 1 && (count > limits.conversations || bytes > limits.bytes))
      await removeConversation(folder, recording.id);
  }
}

async function bytesIn(folder: string): Promise<number> {
  const names = (await readdir(folder).catch(unless("ENOENT", "ENOTDIR"))) ?? [];
  const sizes = await Promise.all(
    names.map(async (name) => (await lstat(join(folder, name)).catch(unless("ENOENT")))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
