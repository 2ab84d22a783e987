/** A balancer without stickiness: each request goes to the next replica. */

import { Agent, createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";

export interface RoundRobin extends AsyncDisposable {
  readonly origin: string;
  /** How many requests each replica got. */
  readonly counts: readonly number[];
}

export async function roundRobin(origins: readonly string[], port = 0): Promise<RoundRobin> {
  const targets = origins.map((origin) => new URL(origin));
  const counts = targets.map(() => 0);
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  const server = createServer((incoming, response) => {
    const at = turn % targets.length;
    turn += 1;
    counts[at] = (counts[at] ?? 0) + 1;
    const { hostname, port: own, host } = targets[at] ?? new URL("http://none.example");
    const { method, url: path } = incoming;
    const outgoing = send(
      { agent, hostname, port: own, method, path, headers: { ...incoming.headers, host } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        answer.on("error", () => response.destroy());
      },
    );
    outgoing.on("error", () => response.destroy());
    response.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    async [Symbol.asyncDispose]() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
