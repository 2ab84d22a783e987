/**
 * The chunks that a relay has passed on and has not parsed yet. It parses many chunks at once, because this takes
 * less CPU time than parsing each chunk when it arrives. It needs their messages only after the loss of its host.
 */

export interface PassedChunks {
  /** Adds a chunk. `read` is called with the chunk later, or at once if many chunks wait. */
  add(chunk: Buffer, read: (chunk: Buffer) => void): void;
  /** Reads all waiting chunks, in the order in which they were added. */
  readAll(): void;
}

/** Maximum number of chunks that wait, and their maximum size together, in bytes. */
const mostChunks = 128;
const mostBytes = 256 * 1024;

export function createPassedChunks(): PassedChunks {
  let waiting: { readonly chunk: Buffer; readonly read: (chunk: Buffer) => void }[] = [];
  let bytes = 0;

  function readAll(): void {
    if (waiting.length === 0) return;
    const chunks = waiting;
    waiting = [];
    bytes = 0;
    for (const { chunk, read } of chunks) read(chunk);
  }

  return {
    add(chunk, read) {
      waiting.push({ chunk, read });
      bytes += chunk.length;
      if (waiting.length >= mostChunks || bytes >= mostBytes) readAll();
    },
    readAll,
  };
}

const newline = 0x0a;
const openBrace = 0x7b;

/**
 * Whether every line of the chunk begins like an MCP message. The host also sends other lines, which are for the relay
 * itself.
 */
export function hasOnlyMessages(chunk: Buffer): boolean {
  let start = 0;
  while (start < chunk.length) {
    if (chunk[start] !== openBrace) return false;
    const end = chunk.indexOf(newline, start);
    if (end === -1) return true;
    start = end + 1;
  }
  return true;
}
