/** Reads the lines of a log file, either once or continuously. */

import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";

/** Returns the lines of a file. Returns undefined if the file does not exist. */
export async function readLogLines(path: string): Promise<readonly string[] | undefined> {
  try {
    return (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Milliseconds between two checks of the file. */
const interval = 250;

/**
 * Yields all lines of the file, then new lines as they are written. Waits until the file exists. Ends only when
 * `signal` aborts: it then throws an `AbortError`.
 */
export async function* followLog(path: string, signal: AbortSignal): AsyncGenerator<string> {
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

/** Yields the lines of `file` until the log is rotated: `path` is then the path of a new file. */
async function* linesOf(file: FileHandle, path: string, signal: AbortSignal): AsyncGenerator<string> {
  const { ino } = await file.stat();
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for (;;) {
    // This check comes before the read, so that no line written just before a rotation is lost.
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
