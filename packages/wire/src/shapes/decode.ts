/** Decodes the bytes of long messages. */

import { Buffer, isAscii } from "node:buffer";

/** Minimum number of bytes for which checking for ASCII saves time. */
const longText = 16_384;

/** Decodes UTF-8. Long results are mostly ASCII, and decoding ASCII as Latin-1 takes a fraction of the time. */
export function decodeUtf8(bytes: Buffer): string {
  return bytes.toString(bytes.length >= longText && isAscii(bytes) ? "latin1" : "utf8");
}

/** Decodes a text that arrived in several pieces. `size`: all bytes together. */
export function decodePieces(pieces: readonly Buffer[], size: number): string {
  const [first] = pieces;
  return decodeUtf8(pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces, size));
}
