/** Splits a byte stream into lines, without decoding them and mostly without copying. */

const newline = 0x0a;

/** Splits the chunks of one stream into lines. */
export interface LineFrames {
  /**
   * Calls `take` with each complete line, including its newline. Returns the bytes to pass on. `take` returns the line,
   * a replacement, or undefined to drop it.
   */
  push(chunk: Buffer, take: (line: Buffer) => Buffer | undefined): readonly Buffer[];
  /** Whether the chunk contains only complete lines, and no part of a line is waiting. */
  isWhole(chunk: Buffer): boolean;
}

/**
 * Creates the splitter for one stream.
 * @param limit Maximum number of bytes of an incomplete line.
 * @param onTooLong Called when an incomplete line is longer than `limit`. All later lines are ignored.
 */
export function createLineFrames(limit: number, onTooLong: () => void): LineFrames {
  let pieces: Buffer[] = [];
  let size = 0;
  let isOver = false;

  function keep(piece: Buffer): void {
    if (piece.length === 0) return;
    size += piece.length;
    pieces.push(piece);
    if (size <= limit) return;
    isOver = true;
    pieces = [];
    onTooLong();
  }

  return {
    push(chunk, take) {
      if (isOver) return [];
      const passed: Buffer[] = [];
      let from = 0;
      let end = chunk.indexOf(newline);
      if (size > 0 && end !== -1) {
        const line = Buffer.concat([...pieces, chunk.subarray(0, end + 1)]);
        pieces = [];
        size = 0;
        const replaced = take(line);
        if (replaced !== undefined) passed.push(replaced);
        from = end + 1;
        end = chunk.indexOf(newline, from);
      }
      /** Where the unchanged lines begin that are not passed on yet. They are passed on together. */
      let first = from;
      while (end !== -1) {
        const next = end + 1;
        const line = chunk.subarray(from, next);
        const replaced = take(line);
        if (replaced !== line) {
          if (first < from) passed.push(chunk.subarray(first, from));
          if (replaced !== undefined) passed.push(replaced);
          first = next;
        }
        from = next;
        end = chunk.indexOf(newline, from);
      }
      if (first < from) passed.push(chunk.subarray(first, from));
      keep(chunk.subarray(from));
      return passed;
    },
    isWhole: (chunk) => size === 0 && !isOver && chunk[chunk.length - 1] === newline,
  };
}
