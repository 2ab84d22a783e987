/** Splits a byte stream into lines, in linear time for any chunk size and line length. */

import { Buffer, constants } from "node:buffer";

const newline = 0x0a;
/** Smaller chunks are copied together, so that a server that writes single bytes does not cost an object per byte. */
const smallPiece = 4096;
const slabBytes = 8192;
const noBytes = Buffer.alloc(0);

/** Takes bytes, delivers lines. */
export interface LineSplitter {
  push(chunk: Buffer): void;
  /** Delivers the text after the last newline as a line. */
  end(): void;
}

export interface LineOptions {
  /** The longest line, in bytes. */
  readonly limit: number;
  readonly line: (text: string) => void;
  /** Called when a line is longer than the limit; no line is delivered after that. */
  readonly tooLong: () => void;
}

export function createLineSplitter({ limit, line, tooLong }: LineOptions): LineSplitter {
  const longest = Math.min(limit, constants.MAX_STRING_LENGTH);
  let over = false;
  let pieces: Buffer[] = [];
  let size = 0;
  let slab = noBytes;
  let used = 0;
  /** Bytes of the last piece at the end of the slab, to which the next small piece can be appended. */
  let joinable = 0;

  /** Returns false if the line is too long. */
  function keep(piece: Buffer): boolean {
    size += piece.length;
    if (size > longest) return false;
    if (piece.length >= smallPiece) {
      pieces.push(piece);
      joinable = 0;
      return true;
    }
    if (slab.length - used < piece.length) {
      slab = Buffer.allocUnsafe(slabBytes);
      used = 0;
      joinable = 0;
    }
    piece.copy(slab, used);
    if (joinable > 0) pieces.pop();
    joinable += piece.length;
    used += piece.length;
    pieces.push(slab.subarray(used - joinable, used));
    return true;
  }

  function forget(): void {
    pieces = [];
    size = 0;
    slab = noBytes;
    used = 0;
    joinable = 0;
  }

  function take(): string {
    const [first = noBytes] = pieces;
    const text = (pieces.length > 1 ? Buffer.concat(pieces, size) : first).toString("utf8");
    forget();
    return text;
  }

  /** Decodes all complete lines of a chunk at once; in UTF-8 a newline byte is never part of another character. */
  function deliver(text: string): boolean {
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      const one = text.slice(start, end);
      // A UTF-16 unit takes at most three bytes, so short lines need not be measured.
      if (one.length * 3 > longest && Buffer.byteLength(one) > longest) return false;
      line(one);
      start = end + 1;
    }
    return true;
  }

  function split(chunk: Buffer): boolean {
    const last = chunk.lastIndexOf(newline);
    if (last === -1) return keep(chunk);
    let start = 0;
    if (size > 0) {
      const end = chunk.indexOf(newline);
      if (!keep(chunk.subarray(0, end))) return false;
      line(take());
      start = end + 1;
    }
    if (!deliver(chunk.toString("utf8", start, last + 1))) return false;
    return last + 1 === chunk.length || keep(chunk.subarray(last + 1));
  }

  return {
    push(chunk) {
      if (over || split(chunk)) return;
      over = true;
      forget();
      tooLong();
    },
    end() {
      if (!over && size > 0) line(take());
      over = true;
    },
  };
}
