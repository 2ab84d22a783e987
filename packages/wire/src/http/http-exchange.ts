/** Sends one HTTP request and waits for the response's headers. Every failure is a `WireError`. */

import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Readable } from "node:stream";
import { WireError } from "../errors.ts";
import { onAbort } from "../rpc/abort.ts";
import type { RequestStop } from "../session.ts";
import { clip, errorMessage } from "../shapes/text.ts";
import type { Route } from "./proxy.ts";

/**
 * Sends the request. Resolves when the response's headers have arrived.
 *
 * @throws WireError; `StaleConnection` if a kept-alive connection closed before the response.
 */
export function sendHttp(
  route: Route,
  url: URL,
  how: RequestOptions,
  { body, stop }: { readonly body?: string | Uint8Array; readonly stop?: AbortSignal | RequestStop },
): Promise<IncomingMessage> {
  let resolve: (response: IncomingMessage) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<IncomingMessage>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  if (stop?.aborted) throw new WireError("cancelled", "the request was cancelled before it was sent", { unsent: true });
  let outgoing: ClientRequest;
  try {
    outgoing = route.request(url, how);
  } catch (cause) {
    // Node throws if a header name or value has a forbidden character.
    const message = `the request cannot be sent: ${errorMessage(cause)}`;
    throw new WireError("bad_message", message, { unsent: true }, { cause });
  }
  const stopListening = onAbort(stop, () => void outgoing.destroy());
  let isAnswered = false;
  outgoing.once("response", (response) => {
    isAnswered = true;
    // An error may come before the body is read. Without a listener, it would be an uncaught exception.
    response.on("error", () => {});
    outgoing.on("error", (error) => response.destroy(error));
    if (response.statusCode !== 407 || !route.proxied) return resolve(response);
    // Status 407 means that the proxy needs a password. The server has not received the request.
    response.resume();
    reject(proxyRefusal(407));
  });
  // Node would report the proxy's refusal as if it were the server's response, so the refusal is caught here.
  if (route.proxied)
    outgoing.once("proxyConnect", ({ statusCode }: { statusCode: number }) => {
      if (!Number.isInteger(statusCode))
        outgoing.destroy(new WireError("proxy", "the proxy does not speak HTTP", { unsent: true }));
      else if (statusCode !== 200) outgoing.destroy(proxyRefusal(statusCode));
    });
  outgoing.once("error", (cause: NodeJS.ErrnoException) => {
    if (stop?.aborted) return reject(new WireError("cancelled", "cancelled", {}, { cause }));
    const stale = outgoing.reusedSocket && (cause.code === "ECONNRESET" || cause.code === "EPIPE");
    reject(stale ? new StaleConnection(cause) : classify(cause, url, route.proxied));
  });
  // A connection can close without a response and without an error (for example after a protocol switch).
  outgoing.once("close", () => {
    stopListening();
    if (isAnswered) return;
    const code = stop?.aborted ? "cancelled" : "unreachable";
    reject(new WireError(code, `${url.host} closed the connection without a response`));
  });
  outgoing.end(body);
  return promise;
}

function proxyRefusal(httpStatus: number): WireError {
  return new WireError("proxy", `the proxy answered with HTTP status ${httpStatus}`, { httpStatus, unsent: true });
}

/** A kept-alive connection closed while a request was sent. The server may have received the request. */
export class StaleConnection extends Error {
  asWireError(): WireError {
    const { cause } = this;
    return new WireError("unreachable", "the connection was reset while the request was sent", {}, { cause });
  }
  constructor(cause: Error) {
    super("stale connection", { cause });
  }
}

const neverConnected = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "EADDRNOTAVAIL",
]);

function classify(cause: NodeJS.ErrnoException, url: URL, proxied: boolean): WireError {
  if (cause instanceof WireError) return cause;
  const code = cause.code ?? "";
  if (code === "HPE_HEADER_OVERFLOW")
    return new WireError("too_large", "the server's headers are too large", {}, { cause });
  // Requests to an http URL use no tunnel: the proxy itself answers, so the invalid response is the proxy's.
  if (code.startsWith("HPE_") && proxied && url.protocol === "http:")
    return new WireError("proxy", `the proxy does not speak HTTP (${code})`, {}, { cause });
  if (code.startsWith("HPE_"))
    return new WireError("bad_message", `${url.host} does not speak HTTP (${code})`, {}, { cause });
  if (isCertificateProblem(code))
    return new WireError("tls", `the certificate of ${url.host} is not accepted: ${cause.message}`, {}, { cause });
  if (code.startsWith("ERR_SSL") || code === "EPROTO")
    return new WireError("tls", `${url.host} does not speak TLS as expected (${code})`, {}, { cause });
  // If a read or a write failed, the connection was open, so the request may have been sent.
  const unsent = neverConnected.has(code) && cause.syscall !== "read" && cause.syscall !== "write";
  const where = proxied ? "the proxy" : url.host;
  const kind = proxied && unsent ? "proxy" : "unreachable";
  return new WireError(kind, `${where} cannot be reached: ${code || cause.message}`, unsent ? { unsent } : {}, {
    cause,
  });
}

function isCertificateProblem(code: string): boolean {
  return /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_CA)/.test(code);
}

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
