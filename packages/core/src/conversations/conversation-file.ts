/**
 * Writes the file of one conversation. A lock keeps other processes from writing it. Media (such as images) is stored
 * in a folder next to the file.
 */

import { constants } from "node:fs";
import { type FileHandle, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HostError } from "../errors.ts";
import { type HeldLock, tryLock } from "../files/atomic/lock.ts";
import { ensurePrivateFolder, privateFileMode } from "../files/atomic/private-folder.ts";
import { notWritten, systemCode, toWriteError, unless } from "../files/system-error.ts";
import { limits } from "../limits.ts";
import type { EncodedLine } from "./format.ts";

/** The folder of all recorded conversations, inside the state folder. */
export function conversationsFolder(state: string): string {
  return join(state, "conversations");
}

/** The path of a conversation's file. `id` must be valid. */
export function conversationPath(folder: string, id: string): string {
  return join(folder, `${id}.jsonl`);
}

/** The folder with the media of the conversation file at `path`. */
export function mediaFolder(path: string): string {
  return path.replace(/(?:[.]jsonl)?$/, ".media");
}

/** The open file of a conversation. No other process can append to the file. */
export interface ConversationFile {
  readonly append: (lines: readonly EncodedLine[]) => Promise<void>;
  /** Releases the file. */
  readonly close: () => Promise<void>;
  /** The size of the file in bytes. */
  readonly size: () => number;
}

/**
 * Creates the file of a new conversation.
 *
 * @throws HostError `internal` if the file cannot be written
 */
export async function createConversationFile(folder: string, id: string): Promise<ConversationFile> {
  const path = conversationPath(folder, id);
  try {
    await ensurePrivateFolder(folder);
    return await lockAndOpen(path, constants.O_CREAT | constants.O_EXCL);
  } catch (error) {
    throw toWriteError(path, error);
  }
}

/**
 * Opens the file of a conversation that was recorded earlier.
 *
 * @throws HostError `busy` if another process has the file open, `not_found` if there is no such file
 */
export async function openConversationFile(folder: string, id: string): Promise<ConversationFile> {
  const path = conversationPath(folder, id);
  try {
    return await lockAndOpen(path, 0);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) throw unknownConversation(id);
    throw toWriteError(path, error);
  }
}

/** The `not_found` error for an id without a recorded conversation. */
export function unknownConversation(id: string): HostError {
  return new HostError("not_found", `there is no conversation "${id}"`, { next: "fairlead conversations" });
}

async function lockAndOpen(path: string, flags: number): Promise<ConversationFile> {
  const lock = await tryLock(path);
  if (lock === undefined) throw isOpenElsewhere(path);
  try {
    const handle = await open(path, constants.O_RDWR | constants.O_APPEND | flags, privateFileMode);
    return createFile(path, { handle, lock, size: await withoutTornLine(handle) });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function isOpenElsewhere(path: string): HostError {
  return new HostError("busy", `the conversation is open in another process: ${path}`, {
    next: "Close the conversation there, then try again.",
  });
}

function createFile(
  path: string,
  { handle, lock, size: before }: { readonly handle: FileHandle; readonly lock: HeldLock; readonly size: number },
): ConversationFile {
  const media = mediaFolder(path);
  const written = new Set<string>();
  let size = before;

  async function keepMedia(digest: string, bytes: Buffer): Promise<void> {
    if (written.has(digest)) return;
    if (written.size === 0) await ensurePrivateFolder(media);
    await writeFile(join(media, digest), bytes, { flag: "wx", mode: privateFileMode }).catch(unless("EEXIST"));
    written.add(digest);
  }

  return {
    size: () => size,
    async append(lines) {
      try {
        if (lock.isLost()) throw isOpenElsewhere(path);
        // Media is written first: if the process is killed, no line refers to a media file that does not exist.
        for (const line of lines) for (const [digest, bytes] of line.media) await keepMedia(digest, bytes);
        const bytes = Buffer.from(lines.map(({ text }) => `${text}\n`).join(""));
        if (size + bytes.length > limits.conversationBytes) throw tooLarge(path);
        const { bytesWritten } = await handle.write(bytes);
        if (bytesWritten < bytes.length) throw notWritten(path, "the disk is full");
        size += bytesWritten;
      } catch (error) {
        throw toWriteError(path, error);
      }
    },
    async close() {
      await handle.close();
      await lock.release();
    },
  };
}

function tooLarge(path: string): HostError {
  return new HostError("too_large", `${path} is full: a conversation has at most ${limits.conversationBytes} bytes`, {
    next: "Begin a new conversation: /clear",
  });
}

/** Removes an incomplete last line, which a killed process may have left. Returns the size of the rest. */
async function withoutTornLine(handle: FileHandle): Promise<number> {
  const { size } = await handle.stat();
  const chunk = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunk.length);
    const { bytesRead } = await handle.read(chunk, 0, end - start, start);
    const at = chunk.subarray(0, bytesRead).lastIndexOf("\n");
    const whole = start + at + 1;
    if (at >= 0 && whole === size) return size;
    if (at >= 0 || start === 0) {
      await handle.truncate(at >= 0 ? whole : 0);
      return at >= 0 ? whole : 0;
    }
    end = start;
  }
  return 0;
}
