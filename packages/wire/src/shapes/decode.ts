/** Decodes the bytes of long messages. */

import { Buffer, isAscii } from "node:buffer";

/** From this many bytes on, checking whether all bytes are ASCII is worth its cost. */
const longText = 16_384;

/** Decodes UTF-8. Long results are mostly ASCII, which takes a fraction of the time when it is decoded as Latin-1. */
export function decodeUtf8(bytes: Buffer): string {
  return bytes.toString(bytes.length >= longText && isAscii(bytes) ? "latin1" : "utf8");
}

/** Decodes a text that arrived in several pieces, `size` bytes in total. */
export function decodePieces(pieces: readonly Buffer[], size: number): string {
  const [first] = pieces;
  return decodeUtf8(pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces, size));
}
