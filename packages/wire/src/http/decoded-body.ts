/** The body of an answer as it was before it was compressed: nobody was asked to compress, some do all the same. */

import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { WireError } from "../errors.ts";
import { clip } from "../shapes/text.ts";

/** A body that cannot be decoded fails with `bad_message` when it is read. */
export async function decodedBody(response: IncomingMessage): Promise<Readable> {
  const encoding = (response.headers["content-encoding"] ?? "").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return response;
  const { PassThrough, pipeline } = await import("node:stream");
  const decoder = await decoderOf(encoding);
  const unreadable = (why: string, cause?: Error): WireError =>
    new WireError("bad_message", `the server's answer ${why}: ${clip(encoding, 100)}`, {}, { cause });
  const body = new PassThrough({
    destroy(error, callback) {
      callback(error && isDecoding(error) ? unreadable("is not in the encoding it names", error) : error);
    },
  });
  // Until someone reads it, its errors must not go uncaught.
  body.on("error", () => {});
  if (decoder !== undefined) return pipeline(response, decoder, body, () => {});
  response.destroy();
  return body.destroy(unreadable("is in an encoding that is not known here"));
}

async function decoderOf(encoding: string): Promise<NodeJS.ReadWriteStream | undefined> {
  const { createBrotliDecompress, createUnzip } = await import("node:zlib");
  if (encoding === "br") return createBrotliDecompress();
  return encoding === "gzip" || encoding === "x-gzip" || encoding === "deflate" ? createUnzip() : undefined;
}

/** Tells bytes that make no sense from a connection that was cut. */
function isDecoding(error: NodeJS.ErrnoException): boolean {
  return /^(Z_|ERR__|ERR_BROTLI_)/.test(error.code ?? "");
}
