/** One HTTP client per server: keep-alive, same-origin redirects, sign-in, proxies, bounded answers; every failure typed. */

import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Readable } from "node:stream";
import type { Cancellation } from "./cancellation.ts";
import { decodedBody } from "./decoded-body.ts";
import { WireError, type WireEvidence, wordsOf } from "./errors.ts";
import { clip } from "./json.ts";
import type { Route } from "./proxy.ts";
import type { AuthHook, Challenge, HttpTarget, WireLimits } from "./target.ts";
import { webAddress } from "./web-address.ts";

interface HttpRequest {
  readonly url: URL;
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly cancellation?: Cancellation | undefined;
  /** May be sent again when a kept-alive connection turns out to be dead. */
  readonly repeatable: boolean;
  /** Nobody is asked to sign in for it. */
  readonly unattended?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body, decompressed. */
  readonly body: Readable;
}

export interface HttpClient {
  request(request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

export interface HttpOptions {
  readonly limits: WireLimits;
  readonly auth?: AuthHook | undefined;
  readonly proxyFor?: ((url: string) => string | undefined) | undefined;
  readonly ca?: string | undefined;
}

/** An answer, and what the hook gave for the request that it refuses or grants. */
interface Attempt {
  readonly response: IncomingMessage;
  readonly sent: Readonly<Record<string, string>>;
}

const mostRedirects = 3;
const mostChallenges = 4;
const longestStart = 1_000;

export async function createHttpClient(target: HttpTarget, options: HttpOptions): Promise<HttpClient> {
  const { openRoute } = await import("./proxy.ts");
  const address = webAddress(target.url);
  if (address === undefined)
    throw new WireError("unreachable", "the server's address is not an http or https URL", { unsent: true });
  const route = await openRoute(address, options);
  let isClosed = false;

  async function attempt(request: HttpRequest, url: URL): Promise<Attempt> {
    const sent = (await signingIn(() => options.auth?.headers({ url: url.href, method: request.method }))) ?? {};
    const how = requestOptions(request, { ...target.headers, ...request.headers, ...sent }, options.limits);
    try {
      return { response: await exchange(route, url, request, how), sent };
    } catch (error) {
      // A server may drop an idle connection just as we use it: nobody has seen the request then, in all likelihood.
      if (!(error instanceof StaleConnection)) throw error;
      // It is dead, too, when we have closed it: whoever did so does not wait for an answer.
      if (!request.repeatable || isClosed) throw error.asWireError();
      return { response: await exchange(route, url, request, how), sent };
    }
  }

  async function follow(request: HttpRequest): Promise<Attempt> {
    let url = request.url;
    for (let hop = 0; ; hop += 1) {
      const attempted = await attempt(request, url);
      const { response } = attempted;
      // Without a tunnel, the proxy's own refusal comes in the server's place.
      if (response.statusCode === 407 && route.proxied) {
        response.resume();
        throw new WireError("proxy", "the proxy answered 407", { httpStatus: 407, unsent: true });
      }
      const location = response.headers.location;
      if (!isRedirect(response.statusCode) || location === undefined) return attempted;
      discard(response);
      const evidence = { httpStatus: response.statusCode ?? 0 };
      const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
      // Headers and body carry secrets: another origin gets neither.
      if (next?.origin !== url.origin) {
        const where = next ? clip(next.origin, 200) : "an address that is none";
        throw new WireError("http_status", `the server redirects to ${where}, which is not followed`, evidence);
      }
      if (hop === mostRedirects)
        throw new WireError("http_status", `the server redirected more than ${mostRedirects} times`, evidence);
      url = next;
    }
  }

  return {
    async request(request) {
      for (let refused = 0; ; refused += 1) {
        const { response, sent } = await follow(request);
        const { statusCode: status = 0, headers } = response;
        if (status !== 401 && status !== 403) return answerOf(response);
        const wwwAuthenticate = headers["www-authenticate"];
        // Read before the hook is asked: a person may take long, and the connection is not kept waiting.
        const firstBytes = await readStart((await answerOf(response)).body);
        const evidence = { httpStatus: status, firstBytes, ...(wwwAuthenticate !== undefined && { wwwAuthenticate }) };
        const url = request.url.href;
        const challenge: Challenge = { status, url, wwwAuthenticate, headers, sent, attempt: refused };
        const signal = request.cancellation?.signal ?? new AbortController().signal;
        const isSignedIn =
          refused < mostChallenges &&
          request.unattended !== true &&
          (await signingIn(() => options.auth?.challenged(challenge, signal), evidence));
        if (!isSignedIn) throw new WireError("unauthorized", `the server answered ${status}`, evidence);
      }
    },
    close() {
      isClosed = true;
      route.close();
    },
  };
}

/** What the hook throws is a sign-in that failed. */
async function signingIn<T>(
  ask: () => Promise<T> | undefined,
  evidence: WireEvidence = { unsent: true },
): Promise<T | undefined> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof WireError) throw cause;
    throw new WireError("unauthorized", `the sign-in failed: ${wordsOf(cause)}`, evidence, { cause });
  }
}

function isRedirect(status: number | undefined): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** One request on one connection: resolves with the head of the answer. */
function exchange(route: Route, url: URL, request: HttpRequest, how: RequestOptions): Promise<IncomingMessage> {
  const { promise, resolve, reject } = withResolvers<IncomingMessage>();
  const { cancellation } = request;
  if (cancellation?.isCancelled) throw new WireError("cancelled", "cancelled before it was sent", { unsent: true });
  let outgoing: ClientRequest;
  try {
    outgoing = route.request(url, how);
  } catch (cause) {
    // Node refuses header names and values with forbidden characters.
    throw new WireError("bad_message", `the request cannot be sent: ${wordsOf(cause)}`, { unsent: true }, { cause });
  }
  const stopListening = cancellation?.onCancel(() => void outgoing.destroy());
  if (stopListening) outgoing.once("close", stopListening);
  let isAnswered = false;
  outgoing.once("response", (response) => {
    isAnswered = true;
    // Errors after the head belong to whoever reads the body; until someone does, they must not go uncaught.
    response.on("error", () => {});
    outgoing.on("error", (error) => response.destroy(error));
    resolve(response);
  });
  // A tunnel that the proxy refused looks like an answer of the server.
  outgoing.once("proxyConnect", ({ statusCode }: { statusCode: number }) => {
    if (!Number.isInteger(statusCode))
      outgoing.destroy(new WireError("proxy", "the proxy does not speak HTTP", { unsent: true }));
    else if (statusCode !== 200)
      outgoing.destroy(new WireError("proxy", `the proxy answered ${statusCode}`, { httpStatus: statusCode }));
  });
  outgoing.once("error", (cause: NodeJS.ErrnoException) => {
    if (cancellation?.isCancelled) return reject(new WireError("cancelled", "cancelled", {}, { cause }));
    const stale = outgoing.reusedSocket && (cause.code === "ECONNRESET" || cause.code === "EPIPE");
    reject(stale ? new StaleConnection(cause) : classify(cause, url, route.proxied));
  });
  // Without an answer and without an error: the server switched to another protocol, say.
  outgoing.once("close", () => {
    if (isAnswered) return;
    const code = cancellation?.isCancelled === true ? "cancelled" : "unreachable";
    reject(new WireError(code, `${url.host} closed the connection without an answer`));
  });
  outgoing.end(request.body);
  return promise;
}

function requestOptions(
  { method, body }: HttpRequest,
  given: Readonly<Record<string, string>>,
  limits: WireLimits,
): RequestOptions {
  const headers: Record<string, string> = { "accept-encoding": "identity", ...given };
  if (body !== undefined) headers["content-length"] = String(Buffer.byteLength(body));
  return { method, headers, maxHeaderSize: limits.headerBytes };
}

/** A kept-alive connection that was dead already; the request may or may not have been seen. */
class StaleConnection extends Error {
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
  // In a tunnel it is the server who speaks; without one it is the proxy.
  if (code.startsWith("HPE_") && proxied && url.protocol === "http:")
    return new WireError("proxy", `the proxy does not speak HTTP (${code})`, {}, { cause });
  if (code.startsWith("HPE_"))
    return new WireError("bad_message", `${url.host} does not speak HTTP (${code})`, {}, { cause });
  if (isCertificateProblem(code))
    return new WireError("tls", `the certificate of ${url.host} is not accepted: ${cause.message}`, {}, { cause });
  if (code.startsWith("ERR_SSL") || code === "EPROTO")
    return new WireError("tls", `${url.host} does not speak TLS as expected (${code})`, {}, { cause });
  const unsent = neverConnected.has(code);
  const where = proxied ? "the proxy" : url.host;
  const kind = proxied && unsent ? "proxy" : "unreachable";
  return new WireError(kind, `${where} cannot be reached: ${code || cause.message}`, unsent ? { unsent } : {}, {
    cause,
  });
}

function isCertificateProblem(code: string): boolean {
  return /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_CA)/.test(code);
}

async function answerOf(response: IncomingMessage): Promise<HttpAnswer> {
  const { statusCode: status = 0, headers } = response;
  return { status, headers, body: await decodedBody(response) };
}

/** Reads what little is left of a body, so that its connection can be used again; one that goes on is not worth it. */
export function discard(body: Readable): void {
  let left = 64 * 1024;
  body.on("error", () => {});
  body.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) body.destroy();
  });
}

/** The first bytes of a body that is not going to be read: evidence for a person. */
export async function readStart(body: Readable, most = 512): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Evidence is not worth waiting for.
  const enough = setTimeout(() => body.destroy(), longestStart);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= most) break;
    }
  } catch {
    // What came before the cut is evidence all the same.
  } finally {
    clearTimeout(enough);
  }
  return Buffer.concat(chunks).toString("utf8", 0, Math.min(size, most));
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
