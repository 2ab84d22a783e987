/** Cuts a stream of bytes into lines, in linear time however the bytes arrive and however long a line is. */

import { Buffer, constants } from "node:buffer";

const newline = 0x0a;
/** Pieces below this are copied together: a server that dribbles must not cost an object per byte. */
const smallPiece = 4096;
const slabBytes = 8192;
const noBytes = Buffer.alloc(0);

export interface LineSplitter {
  push(chunk: Buffer): void;
  /** Nothing more will come: what stands after the last newline is a line too. */
  end(): void;
}

export interface LineOptions {
  /** The longest line, in bytes. */
  readonly limit: number;
  readonly line: (text: string) => void;
  /** A line grew over the limit; nothing is delivered after this. */
  readonly tooLong: () => void;
}

export function createLineSplitter({ limit, line, tooLong }: LineOptions): LineSplitter {
  const longest = Math.min(limit, constants.MAX_STRING_LENGTH);
  let over = false;
  let pieces: Buffer[] = [];
  let size = 0;
  let slab = noBytes;
  let used = 0;
  /** How much of the last piece lies at the end of the slab, so that the next small one can join it. */
  let joinable = 0;

  /** False when the line has grown too long. */
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

  /** One decoding for all the lines that lie whole in a chunk; a newline byte is never part of another character. */
  function deliver(text: string): boolean {
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      const one = text.slice(start, end);
      // A character has up to three bytes for each unit of length: count only when it can matter.
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
