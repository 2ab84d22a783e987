/** A TCP proxy before a server on this machine, with the faults of a bad network. They hold for open and new connections. */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface NetworkFaults {
  /** Milliseconds that each piece of data is late, in both directions. */
  readonly latency?: number;
  /** Data passes in pieces of this many bytes. */
  readonly slice?: number;
  /** After this many more bytes from the client, or from the server, the connection breaks. */
  readonly cutUp?: number;
  readonly cutDown?: number;
  /** Whether a broken connection is reset. Default: it ends. */
  readonly isReset?: boolean;
  /** Nothing passes, and nothing says so. */
  readonly isHole?: boolean;
}

export interface BadNetwork extends AsyncDisposable {
  readonly port: number;
  /** Sets the faults. Without an argument: none. */
  set(faults?: NetworkFaults): void;
}

export async function badNetwork(target: number): Promise<BadNetwork> {
  let faults: NetworkFaults = {};
  let left = { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY };
  const open = new Set<Socket>();

  function pass(from: Socket, to: Socket, direction: "up" | "down", cut: () => void): void {
    // Late data keeps its order, because each piece waits for the piece before.
    let passed = Promise.resolve();
    from.on("data", (chunk: Buffer) => {
      from.pause();
      passed = passed.then(async () => {
        const { latency, slice = chunk.length, isHole } = faults;
        if (latency !== undefined) await new Promise((resolve) => setTimeout(resolve, latency));
        if (isHole !== true) {
          const allowed = chunk.subarray(0, Math.max(0, left[direction]));
          left[direction] -= allowed.length;
          for (let at = 0; at < allowed.length; at += slice) to.write(allowed.subarray(at, at + slice));
          if (left[direction] <= 0) return cut();
        }
        from.resume();
      });
    });
    from.on("end", () => void passed.then(() => to.end()));
  }

  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1").setNoDelay(true);
    client.setNoDelay(true);
    const cut = (): void => {
      upstream.destroySoon();
      if (faults.isReset) client.resetAndDestroy();
      else client.destroySoon();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        open.delete(socket);
        client.destroy();
        upstream.destroySoon();
      });
    }
    if (left.up <= 0 || left.down <= 0) return cut();
    pass(client, upstream, "up", cut);
    pass(upstream, client, "down", cut);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    set(next = {}) {
      // A connection into a hole stays useless, as behind a router that has forgotten it.
      if (faults.isHole && next.isHole !== true) for (const socket of open) socket.destroy();
      faults = next;
      left = { up: next.cutUp ?? Number.POSITIVE_INFINITY, down: next.cutDown ?? Number.POSITIVE_INFINITY };
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, "close");
    },
  };
}
