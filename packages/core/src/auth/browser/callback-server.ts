/** Chooses the redirect URI of a sign-in, and listens there for one redirect with the right `state`. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { errorMessage, parseUrl } from "@fairlead/wire/text";
import { generateRandomState } from "oauth4webapi";
import type { HostError } from "../../errors.ts";
import type { OAuthSettings } from "../../settings/define/definition.ts";
import { isState } from "../oauth/authorization.ts";
import type { Fail } from "../oauth/failure.ts";
import type { StoredClient } from "../store/credentials.ts";

/** Where to listen, and the `state` that the redirect must have. */
export interface CallbackOptions {
  readonly state: string;
  /**
   * The redirect URI. If it is on this machine and has no port, Fairlead adds the port it listens on. Default:
   * `http://127.0.0.1` and `path`.
   */
  readonly redirectUri?: string;
  readonly path: string;
  /** The port to listen on. Default: the port in the redirect URI, or any free port. */
  readonly port?: number;
}

const received = "Sign-in response received. Go back to the program where you started; you can close this window.";
const portTries = 5;
const headerBytes = 16 * 1024;
const requestTime = 10_000;

/**
 * Starts listening for one redirect.
 *
 * @throws Error `EADDRINUSE` of Node if another program uses the port
 */
export async function openCallbackServer({
  state,
  redirectUri,
  path,
  port,
}: CallbackOptions): Promise<Required<RedirectListener>> {
  const uri = new URL(redirectUri ?? `http://127.0.0.1${path}`);
  let resolve: (answer: URLSearchParams) => void = () => {};
  const answer = new Promise<URLSearchParams>((settle) => {
    resolve = settle;
  });
  let isAnswered = false;
  const hosts = new Set<string>();

  /** Returns the HTTP status and text of a refusal. Undefined if the request is the expected redirect. */
  function refusalOf(
    { headers, method }: IncomingMessage,
    url: URL | undefined,
  ): readonly [number, string] | undefined {
    // A web page could let its own host name point to this machine (DNS rebinding).
    if (!hosts.has(headers.host ?? "")) return [421, "Wrong Host header."];
    if (url?.pathname !== uri.pathname) return [404, "Not found."];
    if (method !== "GET") return [405, "Only GET is allowed."];
    if (!isState(url.searchParams.get("state"), state))
      return [400, "This response does not belong to the current sign-in."];
    return isAnswered ? [410, "This sign-in response was already received."] : undefined;
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { url: asked = "" } = request;
    const url = parseUrl(asked, uri.origin);
    const refusal = refusalOf(request, url);
    if (refusal === undefined) {
      isAnswered = true;
      response.once("close", () => resolve(url?.searchParams ?? new URLSearchParams()));
    }
    sendPage(response, ...(refusal ?? [200, received]));
  }

  const addresses =
    uri.hostname === "localhost" ? ["127.0.0.1", "::1"] : [uri.hostname === "[::1]" ? "::1" : "127.0.0.1"];
  const written = portIn(redirectUri ?? "");
  const servers = await listenOn(addresses, port ?? Number(written ?? ""), onRequest);
  const bound = portOf(servers);
  if (isLoopback(uri) && written === undefined) uri.port = String(bound);
  for (const name of [uri.host, `127.0.0.1:${bound}`, `localhost:${bound}`, `[::1]:${bound}`]) hosts.add(name);
  return {
    redirectUri: redirectUri !== undefined && uri.host === new URL(redirectUri).host ? redirectUri : uri.href,
    answer,
    close: () => closeAll(servers),
  };
}

/** Whether a redirect URI is http on this machine (`localhost`, `127.0.0.1` or `[::1]`). */
export function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

/** Returns the port in the redirect URI, or undefined. `URL` would leave out the port of `http://localhost:80`. */
export function portIn(redirectUri: string): string | undefined {
  return /^[a-z]+:\/\/[^/?#]*:(\d+)(?=[/?#]|$)/i.exec(redirectUri)?.[1];
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Listens on all addresses with the same port. If `port` is 0, finds a port that is free on each. Skips an address that
 * this machine does not have (for example `::1` without IPv6), except the first.
 */
export async function listenOn(
  addresses: readonly string[],
  port: number,
  onRequest: Listener,
): Promise<readonly Server[]> {
  for (let attempt = 1; ; attempt += 1) {
    const servers: Server[] = [];
    try {
      for (const address of addresses) {
        const server = await listen(address, servers.length === 0 ? port : portOf(servers), onRequest).catch(
          (error: unknown) => {
            // Many machines have no IPv6 (for example containers).
            if (servers.length > 0 && isMissing(error)) return undefined;
            throw error;
          },
        );
        if (server) servers.push(server);
      }
      return servers;
    } catch (error) {
      await closeAll(servers);
      if (port !== 0 || attempt === portTries) throw error;
    }
  }
}

function listen(host: string, port: number, onRequest: Listener): Promise<Server> {
  const server = createServer(
    { maxHeaderSize: headerBytes, requestTimeout: requestTime, headersTimeout: requestTime },
    onRequest,
  );
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.removeListener("error", reject);
      resolve(server);
    });
  });
}

function portOf([server]: readonly Server[]): number {
  const address = server?.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
  for (const server of servers) server.closeAllConnections();
  await Promise.all(closed);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EADDRNOTAVAIL" || error.code === "EAFNOSUPPORT");
}

/**
 * Headers of the page after the redirect. Its address contains the authorization code, so the page loads nothing and
 * the browser sends the address to no server.
 */
const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  connection: "close",
};

/** `words` must be Fairlead's own text, because it is not escaped. */
function sendPage(response: ServerResponse, status: number, words: string): void {
  const title = "Fairlead";
  response.writeHead(status, headers);
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${words}</p></html>\n`,
  );
}

/** The redirect URI of a sign-in, and the response that arrives there. */
export interface RedirectListener {
  readonly redirectUri: string;
  /**
   * Resolves with the parameters of the redirect. Never rejects. Undefined if Fairlead does not listen, because the redirect URI is
   * not http on this machine. Then the person must paste the address.
   */
  readonly answer?: Promise<URLSearchParams>;
  /** Stops listening. Resolves when the port is free again. */
  readonly close: () => Promise<void>;
}

/** The path for a client in the settings or in a metadata document. Its registered redirect URI cannot change. */
const knownPath = "/oauth/callback";

/**
 * Chooses the redirect URI. Listens for the redirect if the URI is http on this machine, or if `callbackPort` is set.
 *
 * @throws HostError `auth_failed` if Fairlead cannot listen or `redirectUri` is not a URL
 */
export async function openRedirectListener(
  { redirectUri }: OAuthSettings,
  client: StoredClient | undefined,
  port: number | undefined,
  state: string,
  fail: Fail,
): Promise<RedirectListener> {
  if (redirectUri !== undefined) {
    if (parseUrl(redirectUri) === undefined)
      throw fail("redirect listener", `"redirectUri" is not a URL: ${redirectUri}`);
    if (port === undefined && !isLoopback(new URL(redirectUri))) return { redirectUri, close: async () => {} };
    return listening({ redirectUri, port }, state, fail);
  }
  const before = port === undefined ? client?.redirectUri : undefined;
  const again = before === undefined ? undefined : await listenAgain(before, state);
  if (again) return again;
  const isKnown = client !== undefined && client.redirectUri === undefined;
  return listening({ path: isKnown ? knownPath : `/${generateRandomState()}`, port }, state, fail);
}

/** Returns undefined if Fairlead cannot listen there (for example if another program uses the port). */
async function listenAgain(redirectUri: string, state: string): Promise<RedirectListener | undefined> {
  try {
    return await openCallbackServer({ state, redirectUri, path: "" });
  } catch {
    return undefined;
  }
}

async function listening(
  { redirectUri, path = "", port }: Partial<CallbackOptions>,
  state: string,
  fail: Fail,
): Promise<RedirectListener> {
  try {
    return await openCallbackServer({ state, path, redirectUri, port });
  } catch (cause) {
    throw notListening(cause, port ?? (redirectUri === undefined ? undefined : Number(portIn(redirectUri))), fail);
  }
}

function notListening(cause: unknown, port: number | undefined, fail: Fail): HostError {
  const isTaken = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
  const what = isTaken
    ? `another program uses port ${port}`
    : `Fairlead cannot listen on this machine: ${errorMessage(cause)}`;
  return fail("redirect listener", what, {
    cause,
    next: isTaken
      ? "Stop that program, or set OAUTH_CALLBACK_PORT to a free port that the registered redirect URI allows."
      : undefined,
  });
}
