/**
 * The first checks of a request: that a browser has sent it from our own page. A page of another site, another port or
 * another host name can reach the listener too.
 */

import type { IncomingHttpHeaders } from "node:http";

export const loopback = "127.0.0.1";

/** Browsers look for an icon here if they show no document, such as the text of a refusal. */
export const iconPath = "/favicon.ico";

/** The parts of a request that the checks need. `path` has no query. */
export interface CheckedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Refusal {
  readonly status: number;
  readonly message: string;
}

/** Returns why the request is refused before anything of it is read; undefined if it is not. */
export function refusalOf({ method, path, headers }: CheckedRequest, port: number): Refusal | undefined {
  const own = `${loopback}:${port}`;
  // A page of an attacker can have a host name that resolves to 127.0.0.1 (DNS rebinding).
  if (headers.host !== own) return { status: 421, message: `this server answers only at http://${own}` };
  const isApi = path.startsWith("/api/");
  if (method !== "GET" && !(isApi && method === "POST"))
    return { status: method === "OPTIONS" ? 403 : 405, message: "this address takes no such request" };
  const { origin } = headers;
  // Browsers send it with every POST, and with requests to another origin.
  if (origin === undefined ? method === "POST" : origin !== `http://${own}`)
    return { status: 403, message: "another site has sent this request" };
  const site = headers["sec-fetch-site"];
  // A person may open the document from anywhere. Everything else is requested by the document.
  const isDocument = !isApi && !path.startsWith("/assets/") && path !== iconPath;
  if (isDocument ? !isOpening(headers) : site !== undefined && site !== "same-origin")
    return { status: 403, message: "another site has sent this request" };
  if (method === "POST" && !/^application\/json(?:$|[;\s])/i.test(headers["content-type"] ?? ""))
    return { status: 415, message: "the body must be JSON, and content-type application/json" };
  return undefined;
}

/** Whether a browser's window opens the document. Programs that are no browser do not say what they do. */
function isOpening(headers: IncomingHttpHeaders): boolean {
  const mode = headers["sec-fetch-mode"];
  const destination = headers["sec-fetch-dest"];
  return (mode === undefined || mode === "navigate") && (destination === undefined || destination === "document");
}
