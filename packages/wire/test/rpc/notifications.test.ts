import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/session.ts";
import { collected } from "../support/collected.ts";
import { memoryServer, rpcTo } from "../support/memory-server.ts";

const news = (method: string, params?: JsonObject): JsonObject => ({
  jsonrpc: "2.0",
  method,
  ...(params && { params }),
});

describe("notifications", () => {
  test("reach every listener, in order, until it stops listening", async () => {
    const server = memoryServer();
    const heard: string[] = [];
    await using rpc = await rpcTo(server, { onNotification: (method) => void heard.push(`first ${method}`) });
    const stop = rpc.onNotification((method, params) => void heard.push(`second ${method} ${JSON.stringify(params)}`));
    server.say(news("notifications/message", { level: "info" }), news("notifications/elicitation/complete"));
    stop();
    server.say(news("notifications/message"));
    expect(heard).toEqual([
      "first notifications/message",
      'second notifications/message {"level":"info"}',
      "first notifications/elicitation/complete",
      "second notifications/elicitation/complete {}",
      "first notifications/message",
    ]);
  });

  test("a listener that throws does not keep the others from hearing", async () => {
    const server = memoryServer();
    const heard: string[] = [];
    await using rpc = await rpcTo(server, {
      onNotification: () => {
        throw new Error("oh");
      },
    });
    const { diagnostics } = rpc;
    rpc.onNotification((method) => void heard.push(method));
    server.say(news("notifications/message"));
    expect(heard).toEqual(["notifications/message"]);
    expect(diagnostics).toEqual(["a listener failed on notifications/message: oh"]);
  });

  test("a storm of list changes is told a handful of times, and a call in the middle of it is answered", async () => {
    const server = memoryServer();
    const heard = collected<string>();
    await using rpc = await rpcTo(server, { onNotification: heard.add });
    const call = rpc.request("tools/call");
    for (let i = 0; i < 20_000; i += 1) {
      server.say(news(`notifications/${i % 2 ? "tools" : "prompts"}/list_changed`));
      if (i === 10_000) server.result({ id: 1 }, { ok: true });
    }
    expect(await call).toEqual({ ok: true });
    await heard.reached(4);
    expect(heard.items.toSorted()).toEqual([
      "notifications/prompts/list_changed",
      "notifications/prompts/list_changed",
      "notifications/tools/list_changed",
      "notifications/tools/list_changed",
    ]);
  });

  test("updates are told once for each resource", async () => {
    const server = memoryServer();
    const heard = collected<unknown>();
    await using _rpc = await rpcTo(server, { onNotification: (_method, params) => heard.add(params["uri"]) });
    for (const uri of ["a", "b", "a", "c", "a"]) server.say(news("notifications/resources/updated", { uri }));
    expect(heard.items).toEqual(["a", "b", "c"]);
    expect(await heard.reached(4)).toEqual(["a", "b", "c", "a"]);
  });

  test("log messages are never left out", async () => {
    const server = memoryServer();
    const heard: string[] = [];
    await using _rpc = await rpcTo(server, { onNotification: (method) => void heard.push(method) });
    for (let i = 0; i < 1_000; i += 1) server.say(news("notifications/message", { data: "same" }));
    expect(heard).toHaveLength(1_000);
  });
});
