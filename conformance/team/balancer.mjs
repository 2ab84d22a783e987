/** A balancer without stickiness: each request goes to the next replica, with the token of a user, which the suite does not send. */

import { Agent, createServer, request as send } from "node:http";

export async function startBalancer(token) {
  let targets = [];
  const counts = [];
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  const server = createServer((incoming, response) => {
    const at = turn++ % targets.length;
    counts[at] = (counts[at] ?? 0) + 1;
    const { hostname, port } = targets[at];
    const { method, url: path } = incoming;
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    const outgoing = send({ agent, hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: server.address().port,
    counts,
    /** @param origins the addresses of the replicas */
    balance(origins) {
      targets = origins.map((origin) => new URL(origin));
    },
    async close() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
