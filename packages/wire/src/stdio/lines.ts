/** Splits a byte stream into lines. The time grows only linearly, also for long lines and tiny chunks. */

import { Buffer, constants } from "node:buffer";
import { decodePieces } from "../shapes/decode.ts";
import { longJson } from "../shapes/sliced-json.ts";

const newline = 0x0a;
/** Smaller chunks (in bytes) are copied into a shared buffer. This saves memory if a server writes single bytes. */
const smallPiece = 4096;
const slabBytes = 8192;
const noBytes = Buffer.alloc(0);
/** `limitNow` applies only to longer lines (in bytes). */
const longLine = 1024 * 1024;
const shownBytes = 512;

/** Takes chunks of bytes, and calls `LineOptions.line` for each line. */
export interface LineSplitter {
  push(chunk: Buffer): void;
  /** Returns how many bytes of an incomplete line are in memory. */
  held(): number;
  /** Delivers the waiting lines. Returns false if `isBusy` returns true again, so that lines may still wait. */
  resume(): boolean;
  /** Ends the stream. Bytes after the last newline are delivered as a line. */
  end(): void;
}

/** The limits of a line, and the functions that get the lines. */
export interface LineOptions {
  /** Maximum length of a line, in bytes. */
  readonly limit: number;
  readonly line: (text: string) => void;
  /**
   * Called instead of `line` with the bytes of a long line, to parse it in steps. `isBusy` must return true until that
   * is done. Default: `line` gets long lines too.
   */
  readonly slicedLine?: (pieces: Buffer[]) => void;
  /** Called when a line is longer than `limit`. After that, no line is delivered. */
  readonly tooLong: () => void;
  /**
   * Returns a second limit in bytes, which may change. A line above it is dropped. Called only for lines above 1 MB.
   */
  readonly limitNow?: () => number;
  /** Called with the beginning of each line that is dropped. */
  readonly dropped?: (start: string, bytes: number) => void;
  /** Called before each line. If it returns true, the lines wait until `resume` is called. */
  readonly isBusy?: () => boolean;
}

export function createLineSplitter(options: LineOptions): LineSplitter {
  const { limit, line, slicedLine, tooLong, limitNow = () => limit, dropped, isBusy = () => false } = options;
  const longest = Math.min(limit, constants.MAX_STRING_LENGTH);
  let over = false;
  let pieces: Buffer[] = [];
  let size = 0;
  let slab = noBytes;
  let used = 0;
  /** The length of the last piece if the next small chunk can be added to it, otherwise 0. */
  let joinable = 0;
  /** The beginning of a line above `limitNow`. The rest of that line is not kept. */
  let start: string | undefined;
  /** Complete lines that wait for `resume`. `after` is the incomplete line behind them. */
  let held = "";
  let after: Buffer = noBytes;
  /** Chunks that arrived while lines were waiting or `isBusy` returned true. */
  let queued: Buffer[] = [];

  /** Adds a piece to the current line. Returns false if the line is too long. */
  function keep(piece: Buffer): boolean {
    size += piece.length;
    if (size > longest) return false;
    if (start !== undefined) return true;
    if (size > longLine && size > limitNow()) {
      const [first = piece] = pieces;
      const bytes = size;
      forget();
      size = bytes;
      start = first.toString("utf8", 0, shownBytes);
      return true;
    }
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
    start = undefined;
  }

  /** Delivers the line that was collected in pieces. */
  function finish(): void {
    if (start !== undefined) {
      const [beginning, bytes] = [start, size];
      forget();
      dropped?.(beginning, bytes);
      return;
    }
    const [complete, bytes] = [pieces, size];
    forget();
    if (bytes >= longJson && slicedLine) slicedLine(complete);
    else line(decodePieces(complete, bytes));
  }

  /**
   * Delivers the complete lines of a chunk. They can be decoded together: in UTF-8, a newline byte is always a newline.
   */
  function deliver(text: string): boolean {
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      if (isBusy()) {
        held = text.slice(from);
        return true;
      }
      const one = text.slice(from, end);
      // `byteLength` is slow. A UTF-16 unit takes at most three bytes, so most lines need no exact count.
      if (one.length * 3 > longest && Buffer.byteLength(one) > longest) return false;
      line(one);
      from = end + 1;
    }
    held = "";
    if (after.length === 0) return true;
    const piece = after;
    after = noBytes;
    return keep(piece);
  }

  function split(chunk: Buffer): boolean {
    const last = chunk.lastIndexOf(newline);
    if (last === -1) return keep(chunk);
    let from = 0;
    if (size > 0) {
      const end = chunk.indexOf(newline);
      if (!keep(chunk.subarray(0, end))) return false;
      finish();
      from = end + 1;
    }
    after = last + 1 === chunk.length ? noBytes : chunk.subarray(last + 1);
    return deliver(chunk.toString("utf8", from, last + 1));
  }

  function giveUp(): void {
    over = true;
    held = "";
    queued = [];
    forget();
    tooLong();
  }

  return {
    push(chunk) {
      if (over) return;
      if (held !== "" || queued.length > 0 || isBusy()) queued.push(chunk);
      else if (!split(chunk)) giveUp();
    },
    held: () => (start === undefined ? size : 0),
    resume() {
      if (held !== "" && !deliver(held)) giveUp();
      while (held === "" && queued.length > 0 && !isBusy()) {
        const chunk = queued.shift() ?? noBytes;
        if (!split(chunk)) giveUp();
      }
      return over || (held === "" && queued.length === 0 && !isBusy());
    },
    end() {
      if (!over && size > 0) finish();
      over = true;
    },
  };
}
