/** Decodes the bytes of long messages. */

import { Buffer, isAscii } from "node:buffer";
import { StringDecoder } from "node:string_decoder";
import { immediateTurn } from "./sliced-json.ts";

/** For a shorter text (in bytes), checking for ASCII would take longer than it saves. */
const longText = 16_384;
/** Number of bytes after which `decodeInSlices` lets other code run. */
const sliceBytes = 512 * 1024;

/** Decodes UTF-8. A long ASCII text is decoded as Latin-1, which is faster and gives the same text. */
export function decodeUtf8(bytes: Buffer): string {
  return bytes.toString(bytes.length >= longText && isAscii(bytes) ? "latin1" : "utf8");
}

/** Decodes a text that arrived in several pieces. `size` is their total number of bytes. */
export function decodePieces(pieces: readonly Buffer[], size: number): string {
  const [first] = pieces;
  return decodeUtf8(pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces, size));
}

/**
 * Decodes like `decodePieces`, but lets other code run after each half megabyte. Empties `pieces`, to free memory
 * early.
 */
export async function decodeInSlices(pieces: Buffer[], nextTurn: () => Promise<void> = immediateTurn): Promise<string> {
  const decoder = new StringDecoder("utf8");
  const texts: string[] = [];
  let bytes = 0;
  pieces.reverse();
  for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) {
    // An incomplete character before a piece of ASCII can never be completed. `decoder.end()` replaces it.
    texts.push(isAscii(piece) ? decoder.end() + piece.toString("latin1") : decoder.write(piece));
    bytes += piece.length;
    if (bytes < sliceBytes) continue;
    bytes = 0;
    await nextTurn();
  }
  texts.push(decoder.end());
  return texts.join("");
}
