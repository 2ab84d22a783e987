/** The balancer of a team's gateway in tests: TLS, round robin, no stickiness. */

import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { certificate, certificateKey } from "@fairlead/test-servers";

export interface GatewayFront extends AsyncDisposable {
  /** Such as `https://localhost:12345`. */
  readonly url: string;
  readonly host: string;
  /** The ports of the replicas. */
  replicas: readonly number[];
  /** Keeps the next request to this path from the replicas. Resolves with its address. The browser stays where it is. */
  hold(path: string): Promise<string>;
  /** The index of the replica that gets all requests; undefined for round robin. */
  only: number | undefined;
}

export async function gatewayFront(): Promise<GatewayFront> {
  let turn = 0;
  const held = new Map<string, (url: string) => void>();
  const server = createServer({ cert: certificate, key: certificateKey }, (incoming, response) => {
    const [path = ""] = (incoming.url ?? "").split("?");
    const take = held.get(path);
    if (take !== undefined) {
      held.delete(path);
      response.writeHead(204).end(() => take(`${front.url}${incoming.url}`));
      return;
    }
    turn += 1;
    const port = front.replicas[front.only ?? turn % front.replicas.length];
    const { method, url, headers } = incoming;
    const outgoing = httpRequest({ host: "127.0.0.1", port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    incoming.pipe(outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  const front: GatewayFront = {
    url: `https://${host}`,
    host,
    replicas: [],
    only: undefined,
    hold: (path) => new Promise((resolve) => held.set(path, resolve)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return front;
}
