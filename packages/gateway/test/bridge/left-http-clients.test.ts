import { once } from "node:events";
import { connect } from "node:net";
import { scaled, seed, stdioServer, until } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { gatewayScene } from "../support/gateway-scene.ts";
import { randomFrom } from "../support/random.ts";
import { heapBytes, openDescriptors } from "../support/used-resources.ts";

const version = "2026-07-28";
const legacy = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};
const modern = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/list",
  params: {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    },
  },
};

/** The text of a POST request. */
function posted(host: string, message: object, headers: readonly string[] = []): string {
  const body = JSON.stringify(message);
  return [
    "POST /mcp HTTP/1.1",
    `host: ${host}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    `content-length: ${Buffer.byteLength(body)}`,
    ...headers,
    "",
    body,
  ].join("\r\n");
}

test(
  "HTTP clients of both eras that leave before their first response leave nothing behind",
  async () => {
    await using here = await gatewayScene({ servers: { fx: stdioServer("counted") } });
    const { hostname, port, host } = new URL(here.url);
    const start = seed();
    process.stderr.write(`seed ${start}\n`);
    const random = randomFrom(start);
    const texts = [
      posted(host, legacy),
      posted(host, modern, [`mcp-protocol-version: ${version}`, "mcp-method: tools/list"]),
    ] as const;

    /** Sends a request, or its beginning, and leaves before the response has come. */
    async function visit(): Promise<void> {
      const text = texts[random() < 0.5 ? 0 : 1];
      const written = [0, random() * text.length, text.length][Math.trunc(random() * 3)] ?? 0;
      const leavesAt = Math.trunc(random() * 3);
      // Paused: nothing of the response is read.
      const socket = connect(Number(port), hostname)
        .on("error", () => {})
        .pause();
      const closed = once(socket, "close");
      const leave = (): void => void socket.destroy();
      if (leavesAt === 0) leave();
      else socket.write(text.slice(0, written), () => void (leavesAt === 1 ? leave() : setImmediate(leave)));
      await closed;
    }

    // The first clients load what all clients share.
    for (const era of ["legacy", "modern"] as const) {
      const client = await here.client({ era });
      await client.request("tools/list");
      await client.close();
    }
    const [descriptors, heap] = [openDescriptors(), heapBytes()];
    let left = scaled(20_000, 400);
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        while (left > 0) {
          left -= 1;
          await visit();
        }
      }),
    );
    // A client whose response was already written when it left has a session until that is idle for long; a client has at most 32 sessions.
    await until(() => here.gateway.activity() <= 32);
    await until(() => openDescriptors() <= descriptors);
    expect(heapBytes() - heap).toBeLessThan(32 * 1024 * 1024);
    const client = await here.client({ era: "legacy" });
    expect(await client.request("tools/list")).toMatchObject({ tools: [{ name: "echo" }, { name: "ask" }] });
  },
  scaled(600_000, 60_000),
);
