/** Connections that are cut at random: whatever is tried again, nothing is done twice, and nothing that was done is called undone. */

import type { ServerResponse } from "node:http";
import { scaled, seed, webServer } from "@fairlead/test-servers";
import { connect } from "@fairlead/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import { Executor } from "../../src/execute/executor.ts";
import { createValidator } from "../../src/execute/validation/validator.ts";
import { Connection } from "../../src/server/connection.ts";

/** Only a cut connection may end a call, so no timeout may end it on a busy machine. */
const longTimeouts = { timeout: 600_000, total: 600_000 };

type Cut = "none" | "before it is done" | "after it is done" | "in the answer" | "connection left open, then cut";

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly arguments?: { readonly number: number } };
}

const inputSchema = { type: "object", properties: { number: { type: "number" } } };
const results: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "web", version: "1" } },
  "tools/list": { tools: [{ name: "pay", inputSchema }] },
  "tools/call": { content: [{ type: "text", text: "paid" }] },
};

test("side effects never outnumber calls", { timeout: 120_000 }, async () => {
  const effects = new Map<number, number>();
  let cut: Cut = "none";

  function pay({ params }: Message): void {
    const number = params?.arguments?.number ?? -1;
    effects.set(number, (effects.get(number) ?? 0) + 1);
  }

  function answer(response: ServerResponse, { id, method }: Message): void {
    const body = JSON.stringify({ jsonrpc: "2.0", id, result: results[method] });
    response.writeHead(200, { "content-type": "application/json", "content-length": String(body.length) });
    if (method === "tools/call" && cut === "in the answer") {
      response.write(body.slice(0, 20), () => response.destroy());
      return;
    }
    response.end(body, () => {
      if (method === "tools/call" && cut === "connection left open, then cut") response.socket?.destroy();
    });
  }

  await using server = await webServer((request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = JSON.parse(request.body) as Message;
    if (message.id === undefined) return void response.writeHead(202).end();
    const isCall = message.method === "tools/call";
    if (isCall && cut === "before it is done") return void response.destroy();
    if (isCall) pay(message);
    if (isCall && cut === "after it is done") return void response.destroy();
    answer(response, message);
  });

  async function open(): Promise<Connection> {
    const client = new Connection({
      definition: { name: "web", excludeTools: [] },
      connectTimeout: 30_000,
      open: ({ signal }) =>
        connect(
          { kind: "http", url: server.origin, headers: {} },
          { clientInfo: { name: "test", version: "1" }, era: "legacy", proxyFor: () => undefined, signal },
        ),
    });
    await client.connect();
    await client.discover();
    return client;
  }

  const validator = createValidator();
  const client = await open();
  const reconnected: Connection[] = [];
  const executor = new Executor({
    limits: () => ({ callsPerServer: 16, callsTotal: 64 }),
    validator,
    async reconnect() {
      const next = await open();
      reconnected.push(next);
      return next;
    },
  });

  let number = 0;
  const cuts = fc.constantFrom<Cut[]>(
    "none",
    "before it is done",
    "after it is done",
    "in the answer",
    "connection left open, then cut",
  );
  await fc.assert(
    fc.asyncProperty(cuts, async (chosen) => {
      cut = chosen;
      number += 1;
      const mine = number;
      const call = executor.call({ client, tool: "pay", args: { number: mine } }, longTimeouts);
      const end = await call.catch((error: unknown) => error);
      const done = effects.get(mine) ?? 0;
      if (!(end instanceof HostError)) expect(done).toBe(1);
      // Only what may have happened is called lost; everything else says that nothing has.
      else if (end.code === "lost") expect(done).toBeLessThanOrEqual(1);
      else expect([end.code, done]).toEqual([end.code, 0]);
    }),
    { numRuns: scaled(500), seed: seed() },
  );
  await Promise.all([client, ...reconnected].map((each) => each.disconnect()));
  await validator.close();
});
