/** An endpoint's answer as a value, and the one function that sends it. */

import type { ServerResponse } from "node:http";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function json(body: object, status = 200, headers: Readonly<Record<string, string>> = {}): Answer {
  const all = { "content-type": "application/json", "cache-control": "no-store", ...headers };
  return { status, headers: all, body: JSON.stringify(body) };
}

/** Returns an error in the form of RFC 6749. */
export function oauthError(error: string, description: string, status = 400): Answer {
  const headers: Record<string, string> = status === 401 ? { "www-authenticate": "Basic" } : {};
  return json({ error, error_description: description }, status, headers);
}

export function redirect(location: URL | string): Answer {
  return { status: 302, headers: { location: String(location) }, body: "" };
}

export function html(body: string, status = 200): Answer {
  return { status, headers: { "content-type": "text/html; charset=utf-8" }, body };
}

export function notFound(): Answer {
  return { status: 404, headers: { "content-type": "text/plain" }, body: "There is nothing here." };
}

export function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, headers).end(body);
}
