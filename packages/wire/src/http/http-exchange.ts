/** Sends one HTTP request and waits for the response's headers. Every failure is a `WireError`. */

import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { WireError } from "../errors.ts";
import { onAbort } from "../rpc/abort.ts";
import type { RequestStop } from "../session.ts";
import { errorMessage } from "../shapes/text.ts";
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
  const { promise, resolve, reject } = withResolvers<IncomingMessage>();
  if (stop?.aborted) throw new WireError("cancelled", "the request was cancelled before it was sent", { unsent: true });
  let outgoing: ClientRequest;
  try {
    outgoing = route.request(url, how);
  } catch (cause) {
    // Node throws if a header name or value has a forbidden character.
    throw new WireError(
      "bad_message",
      `the request cannot be sent: ${errorMessage(cause)}`,
      { unsent: true },
      { cause },
    );
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
    reject(new WireError("proxy", "the proxy answered with HTTP status 407", { httpStatus: 407, unsent: true }));
  });
  // Node would report the proxy's refusal as if it were the server's response, so the refusal is caught here.
  if (route.proxied)
    outgoing.once("proxyConnect", ({ statusCode }: { statusCode: number }) => {
      if (!Number.isInteger(statusCode))
        outgoing.destroy(new WireError("proxy", "the proxy does not speak HTTP", { unsent: true }));
      else if (statusCode !== 200)
        outgoing.destroy(
          new WireError("proxy", `the proxy answered with HTTP status ${statusCode}`, {
            httpStatus: statusCode,
            unsent: true,
          }),
        );
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

/** A kept-alive connection closed while a request was sent. The server may have received the request. */
export class StaleConnection extends Error {
  asWireError(): WireError {
    return new WireError(
      "unreachable",
      "the connection was reset while the request was sent",
      {},
      { cause: this.cause },
    );
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

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: Error) => void } {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
