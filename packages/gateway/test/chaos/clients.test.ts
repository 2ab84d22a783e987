/** Programs that misuse the gateway over HTTP, while another client works: it gets every answer. */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { keepsPromise, notePromise, type Random, stdioServer, temporaryFolder, until } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createClientTokens } from "../../src/tokens/client-tokens.ts";
import { gatewayScene } from "../support/gateway-scene.ts";
import { heapBytes, openDescriptors } from "../support/used-resources.ts";

const group = "clients";
const greeting = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

test("hostile clients over HTTP take nothing from another client, and leave nothing behind", {
  timeout: 3_600_000,
}, async () => {
  await using folder = await temporaryFolder();
  const tokens = createClientTokens(folder.path);
  await using here = await gatewayScene({ servers: { fx: stdioServer("counted") }, listen: { tokens } });
  const [own, hostile] = await Promise.all([tokens.create("good"), tokens.create("hostile")]);
  const { hostname, port, host } = new URL(here.url);
  const posted = (message: object, session?: string): string => {
    const body = JSON.stringify(message);
    return [
      "POST /mcp HTTP/1.1",
      `host: ${host}`,
      `authorization: Bearer ${hostile}`,
      "content-type: application/json",
      "accept: application/json, text/event-stream",
      ...(session === undefined ? [] : [`mcp-session-id: ${session}`]),
      `content-length: ${Buffer.byteLength(body)}`,
      "",
      body,
    ].join("\r\n");
  };
  const open = (): Socket => connect(Number(port), hostname).on("error", () => {});
  const sessions = new Set<string>();
  const slow = new Set<Socket>();

  async function closed(socket: Socket): Promise<void> {
    if (!socket.closed) await once(socket, "close");
  }
  async function answered(socket: Socket): Promise<string> {
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    await Promise.race([once(socket, "data"), closed(socket)]);
    return text;
  }

  /** What a hostile client does. Each leaves without a word. */
  const ways: Readonly<Record<string, (random: Random) => Promise<void>>> = {
    async session() {
      const socket = open();
      socket.write(posted(greeting));
      const [, id] = /mcp-session-id: (\S+)/i.exec(await answered(socket)) ?? [];
      if (id !== undefined) sessions.add(id);
      socket.destroy();
      await closed(socket);
    },
    async "leaves at any byte"(random) {
      const socket = open();
      const text = posted(greeting);
      socket.write(text.slice(0, random(text.length)), () => socket.destroy());
      await closed(socket);
    },
    async "sends one byte and waits"(random) {
      const socket = open();
      slow.add(socket.on("close", () => slow.delete(socket)));
      socket.write(posted(greeting).slice(0, 1 + random(200)));
      // As many as an attacker can keep open: the gateway closes the oldest.
      if (slow.size > 300) for (const each of slow) each.destroy();
    },
    async "sends requests and reads nothing"(random) {
      const socket = open().pause();
      const list = posted({ jsonrpc: "2.0", id: 2, method: "tools/list" }, [...sessions].at(-1) ?? "none");
      socket.write(list.repeat(50), () => setTimeout(() => socket.destroy(), random(20)));
      await closed(socket);
    },
    async "sends no HTTP"(random) {
      const socket = open();
      socket.end(Buffer.from(Array.from({ length: 400 }, () => random(256))));
      socket.resume();
      await closed(socket);
    },
    async "sends hostile messages"(random) {
      const socket = open();
      const messages = [
        { jsonrpc: "2.0", id: { a: 1 }, method: "tools/call", params: 7 },
        { jsonrpc: "2.0", id: 1, method: "__proto__" },
        [greeting, greeting],
        { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "\u001b[2J", arguments: [] } },
      ];
      socket.write(posted(messages[random(messages.length)] ?? {}));
      await answered(socket);
      socket.destroy();
      await closed(socket);
    },
  };

  // Half of the clients open a session: 10 000 of them.
  const names = Object.keys(ways);
  const wayOf = (random: Random): string => (random(2) === 0 ? "session" : (names[random(names.length)] ?? "session"));
  const good = await here.client({ era: "legacy", headers: { authorization: `Bearer ${own}` } });
  let made = 0;
  const wrong: unknown[] = [];
  let isOver = false;
  async function works(): Promise<void> {
    while (!isOver) {
      made += 1;
      const text = `${made}`;
      try {
        const result = await good.request("tools/call", { name: "echo", arguments: { text } });
        expect(result).toMatchObject({ content: [{ type: "text", text }] });
      } catch (error) {
        wrong.push(error);
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
  await ways["session"]?.(() => 0);
  const [descriptors, heap] = [openDescriptors(), heapBytes()];
  const working = works();
  const load = (): string => `16 hostile clients at once; ${sessions.size} sessions opened and left`;
  try {
    await keepsPromise(
      {
        group,
        promise: "a hostile client of the gateway (floods, churn, slow, unread, garbage) ends without effect on others",
        whole: 17_500,
        part: 300,
        together: 16,
        load,
      },
      (random) => ways[wayOf(random)]?.(random) ?? Promise.resolve(),
    );
  } finally {
    isOver = true;
    await working;
    for (const socket of slow) socket.destroy();
  }
  // The working client has streams of its own by now.
  await until(() => openDescriptors() <= descriptors + 4);
  expect(here.gateway.activity()).toBeLessThanOrEqual(33);
  const grown = heapBytes() - heap;
  expect(grown).toBeLessThan(64 * 1024 * 1024);
  notePromise({
    group,
    promise: "a call of a well-behaved client succeeds while hostile clients are there",
    tries: made,
    failures: wrong.length,
    load: `${load()}; heap ${(grown / 2 ** 20).toFixed(0)} MB larger afterwards, no descriptor left`,
  });
  expect(wrong).toEqual([]);
});
