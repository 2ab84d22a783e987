/** The next request after a redirect; the caller's headers and body never go to another origin. Pure. */

import { parseUrl } from "@fairlead/wire/text";
import { HostError } from "../errors.ts";

export interface FetchRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array | undefined;
}

export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

export function redirectedRequest(asked: FetchRequest, status: number, location: string): FetchRequest {
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
      `${from} redirects a ${method} to ${url.origin}, another origin, which Fairlead does not follow`,
    );
  return { url, method, body, headers: new Headers() };
}

/** Whether the redirected request becomes a GET, as in browsers. */
function becomesQuestion(method: string, status: number): boolean {
  if (status === 303) return method !== "GET" && method !== "HEAD";
  return (status === 301 || status === 302) && method === "POST";
}

/** Removes the headers that describe a body. */
function withoutContent(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => !name.startsWith("content-")));
}
