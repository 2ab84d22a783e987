/** A proxy that answers every request and every tunnel with an error status. */

import { once } from "node:events";
import { createServer, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";

export interface RefusingProxy extends AsyncDisposable {
  readonly origin: string;
  /** The targets of all requests, as written in the request lines. */
  readonly asked: readonly string[];
}

export async function refusingProxy(status: 403 | 407): Promise<RefusingProxy> {
  const asked: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    asked.push(url);
    response.writeHead(status).end();
  });
  server.on("connect", ({ url = "" }, socket) => {
    asked.push(url);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Length: 0\r\n\r\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
