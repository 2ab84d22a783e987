/** Sends a request, follows redirects and reads the response. Applies the address rules to each request. */

import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { errorMessage, parseUrl } from "@fairlead/wire/text";
import { proxyFor, type WebAnswer, webExchange } from "@fairlead/wire/web-exchange";
import { abortOf, type Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Environment } from "../settings/read/paths.ts";
import { sizeWords } from "../text/size-words.ts";
import { checkUrl, createGuard, type Guard } from "./address-rules.ts";
import { toFetchError } from "./fetch-failure.ts";
import type { ServerNetwork } from "./server-network.ts";

/** Sends one request within the limits. Ends with the signal, but has no timeout of its own. */
export async function fetchWithin(
  url: URL,
  init: RequestInit,
  options: FetchOptions & { readonly near: ServerNetwork | undefined },
  signal: AbortSignal,
): Promise<Response> {
  const { maxBytes = limits.fetchedBytes, maxRedirects = 3, near } = options;
  // Looks up the server's addresses before the first request, so that no response can influence the lookup.
  if (near !== undefined) await Promise.race([near.addresses(), abortOf(signal)]);
  const guard = createGuard(near, options.resolve ?? lookup, signal);
  let current: FetchRequest | undefined;
  for (let hop = 0; ; hop += 1) {
    const at = current?.url ?? url;
    try {
      checkUrl(at, near?.url);
      current ??= await firstOf(url, init);
      const answer = await ask(current, options, guard, signal);
      try {
        const headers = headersOf(answer);
        const location = isRedirect(answer.status) ? headers.get("location") : null;
        if (location === null || (init.redirect === "manual" && maxRedirects > 0))
          return toResponse(answer, headers, await readAll(answer.body, maxBytes, at.origin), at);
        if (hop === maxRedirects || init.redirect === "error") throw notFollowed(at, location, hop);
        current = redirectedRequest(current, answer.status, location);
      } finally {
        answer.close();
      }
    } catch (error) {
      throw toFetchError(error, at.origin);
    }
  }
}

/** Creates the first request, before any redirect. The standard class `Request` encodes the body. */
async function firstOf(url: URL, init: RequestInit): Promise<FetchRequest> {
  try {
    const request = new Request(url, { ...init, signal: null });
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    return { url, method: request.method, headers: request.headers, body };
  } catch (cause) {
    const why = errorMessage(cause);
    throw new HostError("internal", `the request to ${url.origin} is invalid and was not sent: ${why}`, { cause });
  }
}

async function ask(
  { url, method, headers, body }: FetchRequest,
  { env, ca }: FetchOptions,
  guard: Guard,
  signal: AbortSignal,
): Promise<WebAnswer> {
  const proxy = proxyFor(url, env);
  await (proxy === undefined ? guard.checkLiteral(url) : guard.checkBeforeProxy(url));
  const sent = { accept: "*/*", "user-agent": "fairlead", ...Object.fromEntries(headers) };
  return webExchange({ url, method, headers: sent, body, signal, proxy, ca, lookup: guard.lookup });
}

/** Reads a body up to the limit, which counts decompressed bytes. */
async function readAll(body: Readable, most: number, origin: string): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) throw new HostError("too_large", `the response of ${origin} is larger than ${sizeWords(most)}`);
    chunks.push(chunk);
  }
  return Uint8Array.from(Buffer.concat(chunks));
}

function headersOf({ headers }: WebAnswer): Headers {
  const all = new Headers();
  for (let at = 0; at + 1 < headers.length; at += 2) all.append(headers[at] ?? "", headers[at + 1] ?? "");
  return all;
}

const withoutBody = new Set([204, 205, 304]);

function toResponse(
  { status, statusText }: WebAnswer,
  headers: Headers,
  body: Uint8Array<ArrayBuffer>,
  url: URL,
): Response {
  if (status < 200 || status > 599) throw new HostError("protocol", `${url.origin} answered with the status ${status}`);
  // Removes the headers that describe the compressed body, because `body` is decompressed.
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) headers.delete(name);
  const response = new Response(withoutBody.has(status) ? null : body, { status, statusText, headers });
  return Object.defineProperty(response, "url", { value: url.href });
}

function notFollowed(from: URL, location: string, hops: number): HostError {
  const to = parseUrl(location, from)?.origin ?? "an invalid URL";
  const why = hops > 0 ? `, after ${hops} redirects` : "";
  return new HostError("http_status", `${from.origin} redirects to ${to}; Fairlead does not follow the redirect${why}`);
}

/** Options of a bounded fetch. */
export interface FetchOptions {
  /**
   * The network of the MCP server, or the server's URL. Private addresses are allowed only if the server is in the same
   * network.
   */
  readonly near?: string | ServerNetwork | undefined;
  /** The environment, for the proxy variables. */
  readonly env: Environment["env"];
  /** Certificate authorities in PEM format, in addition to Node's. */
  readonly ca?: string;
  /** Maximum size of a response in bytes, after decompression. */
  readonly maxBytes?: number;
  /** The timeout in milliseconds for the whole request, including name lookups and redirects. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  /** Maximum number of redirects to follow. If it is 0, a redirect is an error. */
  readonly maxRedirects?: number;
  readonly resolve?: LookupFunction;
  readonly clock?: Clock;
}

interface FetchRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array | undefined;
}

function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** The next request after a redirect. The caller's headers and body go only to the same origin. Pure. */
function redirectedRequest(asked: FetchRequest, status: number, location: string): FetchRequest {
  const from = asked.url.origin;
  if (parseUrl(location, asked.url) === undefined)
    throw new HostError("http_status", `${from} redirects to an invalid URL`);
  const url = new URL(location, asked.url);
  const asQuestion = becomesQuestion(asked.method, status);
  const method = asQuestion ? "GET" : asked.method;
  const body = asQuestion ? undefined : asked.body;
  if (url.origin === from)
    return { url, method, body, headers: asQuestion ? withoutContent(asked.headers) : asked.headers };
  if (body !== undefined || (method !== "GET" && method !== "HEAD"))
    throw new HostError(
      "http_status",
      `${from} redirects a ${method} request to another origin, ${url.origin}; Fairlead does not follow the redirect`,
    );
  return { url, method, body, headers: new Headers() };
}

/** Whether the redirected request becomes a GET, as in browsers. */
function becomesQuestion(method: string, status: number): boolean {
  if (status === 303) return method !== "GET" && method !== "HEAD";
  return (status === 301 || status === 302) && method === "POST";
}

function withoutContent(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => !name.startsWith("content-")));
}
