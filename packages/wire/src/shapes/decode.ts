/** Decodes the bytes of long messages. */

import { Buffer, isAscii } from "node:buffer";
import { StringDecoder } from "node:string_decoder";
import { immediateTurn } from "./sliced-json.ts";

/** Minimum number of bytes for which checking for ASCII saves time. */
const longText = 16_384;
/** The number of bytes after which `decodeInSlices` gives other code its turn. */
const sliceBytes = 512 * 1024;

/** Decodes UTF-8. Long results are mostly ASCII, and decoding ASCII as Latin-1 takes a fraction of the time. */
export function decodeUtf8(bytes: Buffer): string {
  return bytes.toString(bytes.length >= longText && isAscii(bytes) ? "latin1" : "utf8");
}

/** Decodes a text that arrived in several pieces. `size`: all bytes together. */
export function decodePieces(pieces: readonly Buffer[], size: number): string {
  const [first] = pieces;
  return decodeUtf8(pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces, size));
}

/** Like `decodePieces`, but gives other code its turn after each half megabyte. Empties the list, to free the memory early. */
export async function decodeInSlices(pieces: Buffer[], nextTurn: () => Promise<void> = immediateTurn): Promise<string> {
  const decoder = new StringDecoder("utf8");
  const texts: string[] = [];
  let bytes = 0;
  for (const piece of pieces.splice(0)) {
    // Before a piece of ASCII, the bytes of an incomplete character become a replacement character.
    texts.push(isAscii(piece) ? decoder.end() + piece.toString("latin1") : decoder.write(piece));
    bytes += piece.length;
    if (bytes < sliceBytes) continue;
    bytes = 0;
    await nextTurn();
  }
  texts.push(decoder.end());
  return texts.join("");
}
