/**
 * Sends one HTTP request that is not an MCP message, for example for OAuth. Uses proxies and certificates as MCP
 * requests do.
 */

import type { RequestOptions } from "node:http";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { cancellationOf } from "../rpc/cancellation.ts";
import { defaultLimits } from "../target.ts";
import { decodedBody } from "./decoded-body.ts";
import { sendHttp } from "./http-exchange.ts";
import { openRoute } from "./proxy.ts";

export { proxyFor } from "./proxy-for.ts";

/** The request. */
export interface WebRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly signal: AbortSignal;
  readonly proxy?: string | undefined;
  /** Certificate authorities in PEM format, in addition to Node's. */
  readonly ca?: string | undefined;
  /** Resolves host names. Not used with a proxy, because the proxy resolves them itself. */
  readonly lookup?: LookupFunction;
}

/** The response. */
export interface WebAnswer {
  readonly status: number;
  readonly statusText: string;
  /** Alternating header names and values, as in Node's `rawHeaders`. */
  readonly headers: readonly string[];
  /** The body of the response, decompressed. */
  readonly body: Readable;
  /** Closes the connection. No other request uses this connection. */
  close(): void;
}

/**
 * Sends the request. Follows no redirect, and returns responses of any status.
 *
 * @throws WireError
 */
export async function webExchange(request: WebRequest): Promise<WebAnswer> {
  const { url, method, body, signal, proxy, ca, lookup } = request;
  const route = await openRoute(url, { proxyFor: () => proxy, ca });
  const headers: Record<string, string> = { "accept-encoding": "identity", ...request.headers };
  if (body !== undefined) headers["content-length"] = String(body.byteLength);
  const how: RequestOptions = { method, headers, maxHeaderSize: defaultLimits.headerBytes };
  if (lookup !== undefined && !route.proxied) how.lookup = lookup;
  try {
    const response = await sendHttp(route, url, how, { body, cancellation: cancellationOf(signal) });
    const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = response;
    const close = (): void => route.close();
    return { status, statusText, headers: rawHeaders, body: await decodedBody(response), close };
  } catch (error) {
    route.close();
    throw error;
  }
}
