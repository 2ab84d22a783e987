/** The HTTP client for one server: keep-alive, same-origin redirects, sign-in and proxies. */

import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { WireError, type WireEvidence } from "../errors.ts";
import { fixedLimits } from "../limits.ts";
import { signalOf } from "../rpc/abort.ts";
import { PausableTime } from "../rpc/time.ts";
import type { RequestStop } from "../session.ts";
import { clip, errorMessage, parseUrl } from "../shapes/text.ts";
import type { Challenge, ConnectOptions, HttpTarget, WireLimits } from "../target.ts";
import { decodedBody, StaleConnection, sendHttp } from "./http-exchange.ts";
import { openRoute, type Route, webAddress } from "./proxy.ts";

interface HttpRequest {
  readonly url: URL;
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly stop?: AbortSignal | RequestStop | undefined;
  /**
   * Whether the client may send the request a second time: after a redirect, or after a kept-alive connection closed.
   */
  readonly repeatable: boolean;
  /** If true, a 401 or 403 response is an error at once, and the user is not asked to sign in. */
  readonly unattended?: boolean;
}

/** An HTTP response whose body has not been read yet. */
export interface HttpAnswer {
  /** The URL that sent this response: the URL of the request or, after redirects, the last target. */
  readonly url: URL;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body, decompressed. */
  readonly body: Readable;
  /** Headers that the auth hook added to the request. */
  readonly sent: Readonly<Record<string, string>>;
}

/** Sends requests to one server. */
export interface HttpClient {
  request(request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

/** Limits, sign-in, proxy and extra CA certificates (PEM) for one server. `background`: see `ConnectOptions`. */
export interface HttpOptions extends Pick<ConnectOptions, "auth" | "proxyFor" | "ca" | "background" | "timeoutClock"> {
  readonly limits: WireLimits;
}

/** A response, with the headers that the auth hook added to its request. */
interface Attempt {
  readonly url: URL;
  readonly response: IncomingMessage;
  readonly sent: Readonly<Record<string, string>>;
  /** The server's IP address. Undefined behind a proxy. */
  readonly address: string | undefined;
}

const startTimeout = 1_000;
/**
 * A word in a header value is treated as a secret if it has at least this many characters. Shorter words are scheme
 * names such as "Bearer".
 */
const shortestSecret = 8;

/**
 * Creates the client.
 *
 * @throws WireError if the URL or the proxy's URL is invalid.
 */
export async function createHttpClient(target: HttpTarget, options: HttpOptions): Promise<HttpClient> {
  const address = webAddress(target.url);
  if (address === undefined)
    throw new WireError("unreachable", "the server's URL is not an http or https URL", { unsent: true });
  const { auth, timeoutClock = new PausableTime() } = options;
  const opened = await openRoute(address, options);
  const route = options.background ? inBackground(opened) : opened;
  let isClosed = false;

  async function attempt(request: HttpRequest, url: URL): Promise<Attempt> {
    const sent = (auth && (await runHook(() => auth.headers({ url: url.href, method: request.method })))) ?? {};
    const headers: Record<string, string> = Object.assign(
      { "accept-encoding": "identity" },
      target.headers,
      request.headers,
      sent,
    );
    if (request.body !== undefined) headers["content-length"] = String(Buffer.byteLength(request.body));
    const how = { method: request.method, headers, maxHeaderSize: options.limits.headerBytes };
    const attempted = (response: IncomingMessage): Attempt => {
      const address = route.proxied ? undefined : response.socket.remoteAddress;
      return { url, response, sent, address };
    };
    try {
      return attempted(await sendHttp(route, url, how, request));
    } catch (error) {
      // The server may have closed the idle connection before the request arrived, so the client may try once more.
      if (!(error instanceof StaleConnection)) throw error;
      if (!request.repeatable || isClosed) throw error.asWireError();
      return attempted(await sendHttp(route, url, how, request));
    }
  }

  async function follow(request: HttpRequest, first: Attempt): Promise<Attempt> {
    let attempted = first;
    for (let hop = 0; ; hop += 1) {
      const { url, response } = attempted;
      const location = response.headers.location;
      if (!isRedirect(response.statusCode) || location === undefined) return attempted;
      discard(response);
      const evidence = { httpStatus: response.statusCode ?? 0 };
      const next = parseUrl(location, url);
      // The headers and the body contain secrets that another origin must not get.
      if (next?.origin !== url.origin) {
        const where = next ? `another origin, ${clip(next.origin, 200)}` : "an invalid URL";
        const message = `the server redirects to ${where}; Fairlead does not follow the redirect`;
        throw new WireError("http_status", message, evidence);
      }
      // The server may have run the tool before it redirected, so a second request could run the tool twice.
      if (!request.repeatable) {
        const where = `${clip(next.pathname, 200)} (HTTP ${evidence.httpStatus})`;
        const message = `the server redirects the call to ${where}; Fairlead does not follow the redirect`;
        throw new WireError("http_status", message, evidence);
      }
      if (hop === fixedLimits.redirects)
        throw new WireError("http_status", `the server redirected more than ${fixedLimits.redirects} times`, evidence);
      attempted = await attempt(request, next);
    }
  }

  return {
    async request(request) {
      for (let refused = 0; ; refused += 1) {
        const first = await attempt(request, request.url);
        const attempted = isRedirect(first.response.statusCode) ? await follow(request, first) : first;
        const { response, sent, address } = attempted;
        const { statusCode: status = 0, headers } = response;
        if (status !== 401 && status !== 403) return answerOf(attempted);
        const wwwAuthenticate = headers["www-authenticate"];
        const evidence = {
          httpStatus: status,
          // The body is read before the auth hook runs, because an unread body would block the connection during the
          // sign-in.
          firstBytes: redactSent(await readStart((await answerOf(attempted)).body), sent),
          wwwAuthenticate: wwwAuthenticate === undefined ? undefined : redactSent(wwwAuthenticate, sent),
        };
        const url = request.url.href;
        const challenge: Challenge = { status, url, wwwAuthenticate, headers, sent, address, attempt: refused };
        const signal = request.stop ? signalOf(request.stop) : new AbortController().signal;
        const isSignedIn =
          refused < fixedLimits.challenges &&
          request.unattended !== true &&
          auth !== undefined &&
          (await runHook(() => timeoutClock.pausedDuring(() => auth.challenged(challenge, signal)), evidence));
        if (!isSignedIn)
          throw new WireError("unauthorized", `the server answered with HTTP status ${status}`, evidence);
      }
    },
    close() {
      isClosed = true;
      route.close();
    },
  };
}

/** A route whose connections do not keep the process running. */
function inBackground(route: Route): Route {
  return {
    ...route,
    request(url, how) {
      const outgoing = route.request(url, how);
      outgoing.on("socket", (socket) => socket.unref());
      return outgoing;
    },
  };
}

/** Turns an error of the auth hook into `unauthorized`. */
async function runHook<T>(
  ask: () => Promise<T> | undefined,
  evidence: WireEvidence = { unsent: true },
): Promise<T | undefined> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof WireError) throw cause;
    throw new WireError("unauthorized", `sign-in failed: ${errorMessage(cause)}`, evidence, { cause });
  }
}

function isRedirect(status: number | undefined): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

async function answerOf({ url, response, sent }: Attempt): Promise<HttpAnswer> {
  const { statusCode: status = 0, headers } = response;
  const body = decodedBody(response);
  return { url, status, headers, body: body instanceof Promise ? await body : body, sent };
}

/**
 * Removes the header values of the auth hook from a server's text. A server may quote the token, and the user sees the
 * text.
 */
export function redactSent(text: string, sent: HttpAnswer["sent"]): string {
  const words = Object.values(sent).flatMap((value) => value.split(" "));
  return words.reduce((rest, word) => (word.length < shortestSecret ? rest : rest.replaceAll(word, "…")), text);
}

/**
 * Reads what is left of the body, so that the connection can be reused. Closes the connection if more than 64 kB is
 * left.
 */
export function discard(body: Readable): void {
  let left = 64 * 1024;
  body.on("error", () => {});
  body.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) body.destroy();
  });
}

/** Returns the first bytes of a body, as evidence in an error. */
export async function readStart(body: Readable, most = 512): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Waits only a short time, because an error message needs only the beginning of the body.
  const enough = setTimeout(() => body.destroy(), startTimeout);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= most) break;
    }
  } catch {
    // If the connection breaks, the bytes read so far are still returned.
  } finally {
    clearTimeout(enough);
  }
  return Buffer.concat(chunks).toString("utf8", 0, Math.min(size, most));
}
