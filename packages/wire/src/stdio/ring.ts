/** A buffer for the last bytes of a stream. It grows up to its capacity, then drops the oldest bytes. */

import { Buffer } from "node:buffer";

const firstBytes = 1024;

/** Keeps the last bytes of a stream. */
export interface Ring {
  push(chunk: Buffer): void;
  /** Returns the kept bytes as text, starting with the first complete UTF-8 character. */
  text(): string;
}

/** Creates an empty buffer for at most `capacity` bytes. */
export function createRing(capacity: number): Ring {
  // Memory is allocated as needed, because most servers write little.
  let bytes = Buffer.alloc(0);
  let next = 0;
  let full = false;

  function grow(needed: number): void {
    const grown = Buffer.allocUnsafe(Math.min(capacity, Math.max(needed, firstBytes, bytes.length * 2)));
    bytes.copy(grown, 0, 0, next);
    bytes = grown;
  }

  return {
    push(chunk) {
      if (next + chunk.length > bytes.length && bytes.length < capacity) grow(next + chunk.length);
      if (chunk.length >= capacity) {
        chunk.copy(bytes, 0, chunk.length - capacity);
        full = true;
        next = 0;
        return;
      }
      const head = chunk.copy(bytes, next);
      next += head;
      if (head === chunk.length) return;
      full = true;
      next = chunk.copy(bytes, 0, head);
    },
    text() {
      if (!full) return bytes.toString("utf8", 0, next);
      const all = Buffer.concat([bytes.subarray(next), bytes.subarray(0, next)]);
      let start = 0;
      // The first character may be cut. Its remaining bytes (at most three) are skipped.
      while (start < 3 && ((all[start] ?? 0) & 0xc0) === 0x80) start += 1;
      return all.toString("utf8", start);
    },
  };
}
