/**
 * Data that a relay has passed on but not parsed yet. Parsing it later, in large pieces, needs less CPU time. The relay
 * needs the messages only when its host is lost or the client closes its input.
 */

/** Chunks that wait to be parsed. */
export interface PassedChunks {
  /** Adds a chunk. Calls `read` with it later, or now if much data is waiting. */
  add(chunk: Buffer, read: (chunk: Buffer) => void): void;
  /** Calls `read` for all waiting chunks, oldest first. */
  readAll(): void;
}

/** Maximum number of waiting chunks. */
const mostChunks = 128;
const mostBytes = 256 * 1024;

/** Creates an empty list of chunks. */
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

/** Whether every line begins like an MCP message. The host also sends lines that are only for the relay. */
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
