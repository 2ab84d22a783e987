/** Checks an HTTP request before its body is read, because web pages must not send requests to this listener. */

import type { IncomingMessage } from "node:http";

/**
 * Whether the headers `Host` and `Origin` name this listener. A web page could otherwise reach it by DNS rebinding: the
 * page's own host name resolves to the loopback address.
 */
export function namesListener({ headers }: IncomingMessage, port: number): boolean {
  const { host, origin } = headers;
  return isOwn(host, port) && (origin === undefined || (origin.startsWith("http://") && isOwn(origin.slice(7), port)));
}

function isOwn(host = "", port: number): boolean {
  const [name, given = "80"] = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?$/i.exec(host) ?? [];
  return name !== undefined && Number(given) === port;
}

/** Returns the path of a request, without its query. */
export function pathOf({ url = "/" }: IncomingMessage): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}
