/** A real HTTP server on its own port that sends the given replies. It stops at the end of the scope. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { certificate, key } from "./certificate.ts";

export interface WebRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type WebReply = (request: WebRequest, response: ServerResponse) => void;

export interface WebServer extends AsyncDisposable {
  readonly origin: string;
  /** Every request so far. */
  readonly seen: readonly WebRequest[];
}

/** Starts the server. `secure`: with TLS and a self-signed certificate. Without `port`, uses any free port. */
export async function webServer(
  reply: WebReply,
  { secure = false, port: wanted = 0 }: { readonly secure?: boolean; readonly port?: number } = {},
): Promise<WebServer> {
  const seen: WebRequest[] = [];
  const listener: RequestListener = (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method = "", url: path = "", headers } = incoming;
      const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
      seen.push(request);
      reply(request, response);
    });
  };
  const server = secure ? createSecureServer({ cert: certificate, key }, listener) : createServer(listener);
  // 0: the server never closes an idle connection. On a busy machine, one can be idle for longer than the default, 5 s.
  server.keepAliveTimeout = 0;
  server.listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `${secure ? "https" : "http"}://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
