/** Reads a text file line by line as it grows, and the one that takes its place when it is rotated away. */

import { type FileHandle, open, stat } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";

const interval = 250;

/** From the beginning; a file that is not there yet is waited for. Ends only by the signal, with its reason. */
export async function* followFile(path: string, signal: AbortSignal): AsyncGenerator<string> {
  for (;;) {
    const file = await openIfThere(path);
    if (file) {
      try {
        yield* linesOf(file, path, signal);
      } finally {
        await file.close();
      }
    } else await sleep(interval, undefined, { signal });
  }
}

/** Until another file has the name. */
async function* linesOf(file: FileHandle, path: string, signal: AbortSignal): AsyncGenerator<string> {
  const { ino } = await file.stat();
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for (;;) {
    // Asked before reading: what was written up to the change of name is still read here.
    const isReplaced = (await inode(path)) !== ino;
    for await (const chunk of chunksOf(file)) {
      const lines = (rest + decoder.write(chunk)).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    if (isReplaced) return;
    await sleep(interval, undefined, { signal });
  }
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(65_536));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  return open(path).catch(unlessAbsent);
}

async function inode(path: string): Promise<number | undefined> {
  return (await stat(path).catch(unlessAbsent))?.ino;
}

function unlessAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
