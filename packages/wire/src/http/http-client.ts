/** One HTTP client per server: keep-alive, same-origin redirects, sign-in, proxies, bounded answers; every failure typed. */

import type { IncomingMessage, RequestOptions } from "node:http";
import type { Readable } from "node:stream";
import { WireError, type WireEvidence } from "../errors.ts";
import type { Cancellation } from "../rpc/cancellation.ts";
import { clip, errorMessage, parseUrl } from "../shapes/text.ts";
import type { AuthHook, Challenge, HttpTarget, WireLimits } from "../target.ts";
import { decodedBody } from "./decoded-body.ts";
import { StaleConnection, sendHttp } from "./http-exchange.ts";
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
  /** What the hook gave for the request. */
  readonly sent: Readonly<Record<string, string>>;
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
  /** Of the server, unless a proxy stands between. */
  readonly address: string | undefined;
}

const mostRedirects = 3;
const mostChallenges = 4;
const longestStart = 1_000;
/** Shorter words are the names of schemes. */
const shortestSecret = 8;

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
    const attempted = (response: IncomingMessage): Attempt => {
      const address = route.proxied ? undefined : response.socket.remoteAddress;
      return { response, sent, address };
    };
    try {
      return attempted(await sendHttp(route, url, how, request));
    } catch (error) {
      // A server may drop an idle connection just as we use it: nobody has seen the request then, in all likelihood.
      if (!(error instanceof StaleConnection)) throw error;
      // It is dead, too, when we have closed it: whoever did so does not wait for an answer.
      if (!request.repeatable || isClosed) throw error.asWireError();
      return attempted(await sendHttp(route, url, how, request));
    }
  }

  async function follow(request: HttpRequest): Promise<Attempt> {
    let url = request.url;
    for (let hop = 0; ; hop += 1) {
      const attempted = await attempt(request, url);
      const { response } = attempted;
      const location = response.headers.location;
      if (!isRedirect(response.statusCode) || location === undefined) return attempted;
      discard(response);
      const evidence = { httpStatus: response.statusCode ?? 0 };
      const next = parseUrl(location, url);
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
        const { response, sent, address } = await follow(request);
        const { statusCode: status = 0, headers } = response;
        if (status !== 401 && status !== 403) return answerOf(response, sent);
        const wwwAuthenticate = headers["www-authenticate"];
        const evidence = {
          httpStatus: status,
          // Read before the hook is asked: a person may take long, and the connection is not kept waiting.
          firstBytes: redactSent(await readStart((await answerOf(response, sent)).body), sent),
          ...(wwwAuthenticate !== undefined && { wwwAuthenticate: redactSent(wwwAuthenticate, sent) }),
        };
        const url = request.url.href;
        const challenge: Challenge = {
          status,
          url,
          wwwAuthenticate,
          headers,
          sent,
          ...(address !== undefined && { address }),
          attempt: refused,
        };
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
    throw new WireError("unauthorized", `the sign-in failed: ${errorMessage(cause)}`, evidence, { cause });
  }
}

function isRedirect(status: number | undefined): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
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

async function answerOf(response: IncomingMessage, sent: HttpAnswer["sent"]): Promise<HttpAnswer> {
  const { statusCode: status = 0, headers } = response;
  return { status, headers, body: await decodedBody(response), sent };
}

/** Evidence is shown and logged, and a server may quote what it was sent: a token that it does not like, say. */
export function redactSent(text: string, sent: HttpAnswer["sent"]): string {
  const words = Object.values(sent).flatMap((value) => value.split(" "));
  return words.reduce((rest, word) => (word.length < shortestSecret ? rest : rest.replaceAll(word, "…")), text);
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
