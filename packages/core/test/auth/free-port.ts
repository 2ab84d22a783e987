/** A port to name in settings. The system gives other ports to programs that ask for any, so no program takes it meanwhile. */

import { once } from "node:events";
import { createServer } from "node:net";

/** Below those that systems give out by themselves. */
const [lowest, count] = [20_000, 10_000];

export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * count);
    const server = createServer();
    try {
      server.listen({ host: "127.0.0.1", port, exclusive: true });
      await once(server, "listening");
    } catch {
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
