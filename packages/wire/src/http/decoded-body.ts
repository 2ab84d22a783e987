/** Decompresses HTTP responses, because some servers compress them although the request does not allow it. */

import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { WireError } from "../errors.ts";
import { clip } from "../shapes/text.ts";

/** Returns the body, decompressed if necessary. Reading an invalid body fails with `bad_message`. */
export function decodedBody(response: IncomingMessage): Readable | Promise<Readable> {
  const encoding = (response.headers["content-encoding"] ?? "").trim().toLowerCase();
  return encoding === "" || encoding === "identity" ? response : decompressed(response, encoding);
}

async function decompressed(response: IncomingMessage, encoding: string): Promise<Readable> {
  const { PassThrough, pipeline } = await import("node:stream");
  const decoder = await decoderOf(encoding);
  const unreadable = (why: string, cause?: Error): WireError =>
    new WireError("bad_message", `the server's response ${why}: ${clip(encoding, 100)}`, {}, { cause });
  const body = new PassThrough({
    destroy(error, callback) {
      callback(error && isDecoding(error) ? unreadable("does not match its content-encoding", error) : error);
    },
  });
  // An error may come before the body is read. Without a listener, it would be an uncaught exception.
  body.on("error", () => {});
  if (decoder !== undefined) return pipeline(response, decoder, body, () => {});
  response.destroy();
  return body.destroy(unreadable("has an unknown content-encoding"));
}

async function decoderOf(encoding: string): Promise<NodeJS.ReadWriteStream | undefined> {
  const { createBrotliDecompress, createUnzip } = await import("node:zlib");
  if (encoding === "br") return createBrotliDecompress();
  return encoding === "gzip" || encoding === "x-gzip" || encoding === "deflate" ? createUnzip() : undefined;
}

function isDecoding(error: NodeJS.ErrnoException): boolean {
  return /^(Z_|ERR__|ERR_BROTLI_)/.test(error.code ?? "");
}
