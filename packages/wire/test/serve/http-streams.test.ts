import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { turn } from "../support/collected.ts";
import { begin, initialize, messagesIn, modern, post } from "../support/http-post.ts";
import { stoppedTime } from "../support/simulated-time.ts";
import { waitingServer } from "../support/waiting-server.ts";

const call = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "x" } };
const ping = { jsonrpc: "2.0", id: 2, method: "ping" };

async function openSession(url: string): Promise<{ "mcp-session-id": string }> {
  return { "mcp-session-id": String((await post(url, { body: initialize })).headers["mcp-session-id"]) };
}

describe("a legacy response stream that is cut", () => {
  test("does not cancel the call; what the server asks meanwhile goes to the GET stream", async () => {
    await using server = await waitingServer();
    const headers = await openSession(server.url);
    const calling = begin(server.url, { headers, body: call });
    const [waiting] = await server.calls.reached(1);
    await waiting?.client.notify("notifications/message", { data: "before" }, 7);
    await calling.response;
    calling.outgoing.destroy();
    await calling.ended;
    const listening = begin(server.url, { headers, method: "GET" });
    await listening.response;
    // The server sees the cut after the client.
    await post(server.url, { headers, body: ping });
    const asking = waiting?.client.request("roots/list", {}, { about: 7 });
    const stream = await listening.response;
    const [event] = (await once(stream, "data")) as [Buffer];
    const { id } = JSON.parse(/data: (.*)/.exec(String(event))?.[1] ?? "{}") as { id: number };
    expect(waiting?.signal.aborted).toBe(false);
    await post(server.url, { headers, body: { jsonrpc: "2.0", id, result: { roots: [] } } });
    expect(await asking).toEqual({ roots: [] });
    waiting?.finish({ content: [] });
    // The request is over: its id is free again.
    const again = begin(server.url, { headers, body: call });
    (await server.calls.reached(2))[1]?.finish({ content: [] });
    expect((await again.ended).status).toBe(200);
    listening.outgoing.destroy();
  });
});

test("messages about no request go to the GET stream, also those from before it was open", async () => {
  await using server = await waitingServer();
  const headers = await openSession(server.url);
  const calling = begin(server.url, { headers, body: call });
  const [waiting] = await server.calls.reached(1);
  await waiting?.client.notify("notifications/tools/list_changed");
  await waiting?.client.notify("notifications/message", { data: 1 }, 7);
  const listening = begin(server.url, { headers, method: "GET" });
  await listening.response;
  await waiting?.client.notify("notifications/prompts/list_changed");
  expect((await post(server.url, { headers, method: "GET" })).status).toBe(409);
  waiting?.finish({ content: [] });
  expect(messagesIn(await calling.ended)).toMatchObject([{ method: "notifications/message" }, { id: 7 }]);
  await post(server.url, { headers, method: "DELETE" });
  expect(messagesIn(await listening.ended)).toMatchObject([
    { method: "notifications/tools/list_changed" },
    { method: "notifications/prompts/list_changed" },
  ]);
});

describe("with time", () => {
  test("open streams and long requests are kept alive", async () => {
    const time = stoppedTime();
    await using server = await waitingServer({ time });
    const headers = await openSession(server.url);
    const listening = begin(server.url, { headers, method: "GET" });
    await listening.response;
    const sent = [begin(server.url, { headers, body: call }), begin(server.url, modern("tools/call", { name: "x" }))];
    const waiting = await server.calls.reached(2);
    time.advance(15_000);
    time.advance(15_000);
    for (const one of waiting) one.finish({ content: [] });
    for (const one of sent) {
      const ended = await one.ended;
      expect(ended.text).toMatch(/^: waiting\n\nevent: message\n/);
      expect(messagesIn(ended)).toMatchObject([{ result: { content: [] } }]);
    }
    await post(server.url, { headers, method: "DELETE" });
    expect((await listening.ended).text).toBe(": waiting\n\n: waiting\n\n");
  });

  test("a request that has just come keeps the status of its answer", async () => {
    const time = stoppedTime();
    await using server = await waitingServer({ time });
    const sent = begin(server.url, modern("tools/call", { name: "x" }));
    const [waiting] = await server.calls.reached(1);
    time.advance(15_000);
    waiting?.finish({ content: [] });
    expect((await sent.response).headers["content-type"]).toBe("application/json");
    await sent.ended;
  });

  test("a session without a stream ends after 30 minutes, another stays", async () => {
    const time = stoppedTime();
    await using server = await waitingServer({ time });
    const [idle, used, streaming] = [
      await openSession(server.url),
      await openSession(server.url),
      await openSession(server.url),
    ];
    const listening = begin(server.url, { headers: streaming, method: "GET" });
    await listening.response;
    time.advance(29 * 60_000);
    expect((await post(server.url, { headers: used, body: ping })).status).toBe(200);
    time.advance(2 * 60_000);
    await turn();
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await post(server.url, { headers, body: ping })).status;
    expect([await status(idle), await status(used), await status(streaming)]).toEqual([404, 200, 200]);
    listening.outgoing.destroy();
  });
});

describe("the era of a request", () => {
  test("initialize with the envelope of the modern era is a method that this era does not have", async () => {
    await using server = await waitingServer();
    for (const method of ["initialize", "ping", "logging/setLevel", "resources/subscribe"]) {
      const answered = await post(server.url, modern(method));
      expect(answered.status).toBe(404);
      expect(messagesIn(answered)).toMatchObject([{ error: { code: -32601 } }]);
    }
  });

  test.each([
    ["initialize with the headers of the modern era is legacy", initialize, 200, undefined],
    [
      "another method with them is modern, and lacks its envelope",
      { ...initialize, method: "tools/list" },
      400,
      -32602,
    ],
  ])("%s", async (_what, body, status, code) => {
    await using server = await waitingServer();
    const { headers = {} } = modern(body.method);
    const answered = await post(server.url, { headers, body });
    expect(answered.status).toBe(status);
    if (code !== undefined) expect(messagesIn(answered)).toMatchObject([{ error: { code } }]);
  });
});
