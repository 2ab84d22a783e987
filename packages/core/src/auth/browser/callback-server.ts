/** Listens on this machine for the browser that comes back from the authorization server: once, and only with the right `state`. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { parseUrl } from "@fairlead/wire/text";
import { isState } from "../oauth/authorization.ts";
import { sendPage } from "./callback-page.ts";

export interface CallbackServer {
  /** For the question to the authorization server. */
  readonly redirectUri: string;
  /** The parameters that the browser came back with; never rejects. */
  readonly answer: Promise<URLSearchParams>;
  /** Resolves when nobody listens any more. */
  readonly close: () => Promise<void>;
}

export interface CallbackOptions {
  readonly state: string;
  /** Where the browser will be sent; the port is filled in if there is none. Without it: this machine, and `path`. */
  readonly redirectUri?: string;
  readonly path: string;
  /** Absent: the port of the redirect URI; without one, whichever is free. */
  readonly port?: number;
}

const received = "The answer was received. It goes on where you started; you can close this window.";
const portTries = 5;
const headerBytes = 16 * 1024;
const requestTime = 10_000;

/** Rejects with the system's own error when the port is taken. */
export async function openCallbackServer({ state, redirectUri, path, port }: CallbackOptions): Promise<CallbackServer> {
  const uri = new URL(redirectUri ?? `http://127.0.0.1${path}`);
  const { promise: answer, resolve } = withResolvers<URLSearchParams>();
  let isAnswered = false;
  const hosts = new Set<string>();

  /** The status and the words for a visit that is not the awaited one. */
  function refusalOf(
    { headers, method }: IncomingMessage,
    url: URL | undefined,
  ): readonly [number, string] | undefined {
    // A page somewhere in the web may have made its own name lead here.
    if (!hosts.has(headers.host ?? "")) return [421, "This address is not for you."];
    if (url?.pathname !== uri.pathname) return [404, "There is nothing here."];
    if (method !== "GET") return [405, "This address is only to be visited."];
    if (!isState(url.searchParams.get("state"), state))
      return [400, "This answer does not belong to the sign-in that is under way."];
    return isAnswered ? [410, "The answer was received already."] : undefined;
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

/** Whether the browser would be sent to this machine. */
export function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

/** Also the usual one, which a parsed address leaves out. */
export function portIn(redirectUri: string): string | undefined {
  return /^[a-z]+:\/\/[^/?#]*:(\d+)(?=[/?#]|$)/i.exec(redirectUri)?.[1];
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** The same port on all addresses; a free one for the first may be taken on the second. */
async function listenOn(addresses: readonly string[], port: number, onRequest: Listener): Promise<readonly Server[]> {
  for (let attempt = 1; ; attempt += 1) {
    const servers: Server[] = [];
    try {
      for (const address of addresses) {
        const server = await listen(address, servers.length === 0 ? port : portOf(servers), onRequest).catch(
          (error: unknown) => {
            // Many machines, containers above all, know only the older addresses.
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

function withResolvers<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let settle: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle(value) };
}
