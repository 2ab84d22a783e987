/**
 * Reads a file safely. The path may lead to a huge file, a pipe, a folder or binary data. Never blocks and never
 * throws.
 */

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { explain, systemCode } from "./system-error.ts";

export type TextFile =
  /** The text of the file, including a byte order mark if there is one. */
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "absent" }
  /**
   * The file cannot be read. `reason` ends the sentence "FILE cannot be read: …". `cause` is the system's error, if
   * any.
   */
  | { readonly kind: "unreadable"; readonly reason: string; readonly cause?: unknown };

/** Result of `readBytes`. */
export type BytesFile = { readonly kind: "bytes"; readonly bytes: Buffer } | Unread;

type Unread = Exclude<TextFile, { readonly kind: "text" }>;

/** Reads a whole UTF-8 file of at most `maxBytes` bytes. */
export function readText(path: string, maxBytes: number): Promise<TextFile> {
  return withFile(path, (handle) => readHandle(handle, maxBytes));
}

/** Reads the current bytes of a file. Ignores bytes that another process appends during the read. */
export function readBytes(path: string, maxBytes: number): Promise<BytesFile> {
  return withFile(path, async (handle) => {
    const stats = await handle.stat();
    if (!stats.isFile()) return unreadable("it is not a regular file");
    if (stats.size > maxBytes) return unreadable(`it is larger than ${maxBytes} bytes`);
    const bytes = Buffer.allocUnsafe(stats.size);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count)
      ({ bytesRead: count } = await handle.read(bytes, length, bytes.length - length, length));
    return { kind: "bytes", bytes: bytes.subarray(0, length) };
  });
}

async function withFile<T>(path: string, read: (handle: FileHandle) => Promise<T>): Promise<T | Unread> {
  try {
    // Without O_NONBLOCK, opening a pipe that no program writes to waits for ever.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return await read(handle);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "absent" };
    return { kind: "unreadable", reason: explain(error), cause: error };
  }
}

async function readHandle(handle: FileHandle, maxBytes: number): Promise<TextFile> {
  const stats = await handle.stat();
  if (stats.isDirectory()) return unreadable("it is a folder, not a file");
  if (!stats.isFile()) return unreadable("it is not a regular file");
  // One byte more than expected, to notice a file that grows during the read.
  const buffer = Buffer.allocUnsafe(Math.min(stats.size, maxBytes) + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) return decode(buffer.subarray(0, length));
    length += bytesRead;
  }
  return unreadable(
    stats.size > maxBytes ? `it is larger than ${maxBytes} bytes` : "it changed while it was being read",
  );
}

function decode(bytes: Buffer): TextFile {
  const firstBytes = bytes.subarray(0, 2).toString("hex");
  if (firstBytes === "fffe" || firstBytes === "feff") return unreadable("it is UTF-16 text; save it as UTF-8");
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return unreadable("it is not valid UTF-8 text");
  }
}

function unreadable(reason: string): Unread {
  return { kind: "unreadable", reason };
}
