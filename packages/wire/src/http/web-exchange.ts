/**
 * Sends one HTTP request that is not an MCP message (for example for OAuth). Uses the same proxies and certificates as
 * MCP requests.
 */

import type { RequestOptions } from "node:http";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { defaultLimits } from "../target.ts";
import { decodedBody, sendHttp } from "./http-exchange.ts";
import { openRoute } from "./proxy.ts";

export { proxyFor } from "./proxy.ts";

/** One HTTP request. `proxy` is the proxy's URL, and undefined means a direct connection. */
export interface WebRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly signal: AbortSignal;
  readonly proxy?: string | undefined;
  /** Certificates in PEM format. They are trusted in addition to the certificate authorities of Node. */
  readonly ca?: string | undefined;
  /** Resolves host names. Ignored if there is a proxy, because the proxy resolves them. */
  readonly lookup?: LookupFunction;
}

/** The response to a `WebRequest`, of any status. The caller must `close` it. */
export interface WebAnswer {
  readonly status: number;
  readonly statusText: string;
  /** Alternating header names and values, as in Node's `rawHeaders`. */
  readonly headers: readonly string[];
  /** The body of the response, decompressed. */
  readonly body: Readable;
  /** Closes the connection, which only this request uses. */
  close(): void;
}

/**
 * Sends the request. Does not follow redirects, and resolves with a response of any status.
 *
 * @throws WireError if no response arrives.
 */
export async function webExchange(request: WebRequest): Promise<WebAnswer> {
  const { url, method, body, signal, proxy, ca, lookup } = request;
  const route = await openRoute(url, { proxyFor: () => proxy, ca });
  const headers: Record<string, string> = { "accept-encoding": "identity", ...request.headers };
  if (body !== undefined) headers["content-length"] = String(body.byteLength);
  const how: RequestOptions = { method, headers, maxHeaderSize: defaultLimits.headerBytes };
  if (lookup !== undefined && !route.proxied) how.lookup = lookup;
  try {
    const response = await sendHttp(route, url, how, { body, stop: signal });
    const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = response;
    const close = (): void => route.close();
    return { status, statusText, headers: rawHeaders, body: await decodedBody(response), close };
  } catch (error) {
    route.close();
    throw error;
  }
}
