/** Deletes recorded conversations: one that the user names, or the oldest ones if the limits are exceeded. */

import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { tryLock } from "../files/atomic/lock.ts";
import { unless } from "../files/system-error.ts";
import { conversationPath, mediaFolder } from "./conversation-file.ts";
import { conversationsIn } from "./list-conversations.ts";

/** How many conversations, and how many bytes, stay on disk. */
export interface ConversationLimits {
  readonly conversations: number;
  /** Maximum bytes of all conversations together, including their media. */
  readonly bytes: number;
}

const defaultLimits: ConversationLimits = { conversations: 1_000, bytes: 2_000_000_000 };

/** Removes a recorded conversation and its media. Returns false if a process has the conversation open. */
export async function removeConversation(folder: string, id: string): Promise<boolean> {
  const path = conversationPath(folder, id);
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

/** Removes the oldest conversations until the rest is within the limits. Never removes the newest conversation. */
export async function rotateConversations(folder: string, limits: ConversationLimits = defaultLimits): Promise<void> {
  let count = 0;
  let bytes = 0;
  for (const recorded of await conversationsIn(folder)) {
    count += 1;
    bytes += recorded.bytes + (await bytesIn(mediaFolder(conversationPath(folder, recorded.id))));
    if (count > 1 && (count > limits.conversations || bytes > limits.bytes))
      await removeConversation(folder, recorded.id);
  }
}

async function bytesIn(folder: string): Promise<number> {
  const names = (await readdir(folder).catch(unless("ENOENT", "ENOTDIR"))) ?? [];
  const sizes = await Promise.all(
    names.map(async (name) => (await lstat(join(folder, name)).catch(unless("ENOENT")))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
