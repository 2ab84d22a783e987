/** One request that is not the protocol's own, over the same routes, with the same certificates, encodings and words for failures. */

import type { RequestOptions } from "node:http";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { cancellationOf } from "../rpc/cancellation.ts";
import { defaultLimits } from "../target.ts";
import { decodedBody } from "./decoded-body.ts";
import { sendHttp } from "./http-exchange.ts";
import { openRoute } from "./proxy.ts";

export interface WebRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly signal: AbortSignal;
  /** The address of the proxy to go through. */
  readonly proxy?: string | undefined;
  /** Extra certificate authorities, PEM. */
  readonly ca?: string | undefined;
  /** Where names lie; a proxy finds that out by itself. */
  readonly lookup?: LookupFunction;
}

export interface WebAnswer {
  readonly status: number;
  readonly statusText: string;
  /** Names and values in turn, as they came. */
  readonly headers: readonly string[];
  /** Decompressed. */
  readonly body: Readable;
  /** Ends the connection: one request has one of its own. */
  close(): void;
}

/** Redirects and refusals are answers like any other. */
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
