import { scaled } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { listenHttp } from "../../src/serve/http-listener.ts";
import { begin, initialize, messagesIn, modern, post } from "../support/http-post.ts";
import { waitingServer } from "../support/waiting-server.ts";

const as = (authorization: string, session?: string) => ({
  authorization,
  ...(session !== undefined && { "mcp-session-id": session }),
});
const ping = { jsonrpc: "2.0", id: 2, method: "ping" };

async function openSession(url: string, owner: string): Promise<string> {
  const { headers } = await post(url, { headers: as(owner), body: initialize });
  return String(headers["mcp-session-id"]);
}

describe("a request from outside", () => {
  test("is refused by the names in its headers, before anything is opened for it", async () => {
    await using server = await waitingServer();
    const { port } = new URL(server.url);
    const refused: readonly Record<string, string>[] = [
      { host: "evil.example" },
      { host: `evil.example:${port}` },
      { host: `localhost.evil.example:${port}` },
      { host: "localhost" },
      { host: "127.0.0.1:1" },
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: "http://localhost:1" },
      { origin: `https://localhost:${port}` },
      { origin: "" },
    ];
    for (const headers of refused)
      expect((await post(server.url, { headers, body: initialize })).status, JSON.stringify(headers)).toBe(403);
    expect(server.owners).toEqual([]);
    for (const name of ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"]) {
      const headers = { host: `${name}:${port}`, origin: `http://${name}:${port}` };
      expect((await post(server.url, { headers, body: initialize })).status).toBe(200);
    }
  });

  test("gets no way in for a web page, and no detail about what is missing", async () => {
    await using server = await waitingServer();
    const asked = await post(server.url, { method: "OPTIONS" });
    expect(asked).toMatchObject({ status: 403, text: "" });
    const names = Object.keys(asked.headers);
    expect(names.filter((name) => name.startsWith("access-control"))).toEqual([]);
    const unknown = await post(server.url, { headers: as("nobody"), body: initialize });
    expect(unknown).toMatchObject({ status: 401, text: "" });
    expect(unknown.headers["www-authenticate"]).toBeUndefined();
    expect((await post(`${server.url}/x`, { headers: as("nobody"), body: initialize })).status).toBe(404);
    expect((await post(server.url, { method: "PUT" })).status).toBe(405);
    expect(server.owners).toEqual([]);
  });
});

describe("a session", () => {
  test("belongs to the owner that opened it: to others it does not exist", async () => {
    await using server = await waitingServer();
    const session = await openSession(server.url, "a");
    expect(session).toMatch(/^[0-9a-f]{32}$/);
    const tries = [as("b", session), as("a", "0".repeat(32)), as("a", ""), as("a", "__proto__")];
    for (const headers of tries) {
      expect((await post(server.url, { headers, body: ping })).status).toBe(404);
      expect((await post(server.url, { headers, method: "GET" })).status).toBe(404);
      expect((await post(server.url, { headers, method: "DELETE" })).status).toBe(404);
    }
    expect((await post(server.url, { headers: as("a", session), body: ping })).status).toBe(200);
    expect((await post(server.url, { headers: as("a", session), method: "DELETE" })).status).toBe(200);
    expect((await post(server.url, { headers: as("a", session), body: ping })).status).toBe(404);
  });

  test("is never pushed out by another owner, however many that one opens", async () => {
    await using server = await waitingServer({ limits: { sessions: 3 } });
    const own = await openSession(server.url, "quiet");
    let last = "";
    for (let count = 0; count < scaled(10_000, 10); count += 1) last = await openSession(server.url, "greedy");
    expect((await post(server.url, { headers: as("quiet", own), body: ping })).status).toBe(200);
    expect((await post(server.url, { headers: as("greedy", last), body: ping })).status).toBe(200);
  });

  test("is refused if all sessions of its owner are in use", async () => {
    await using server = await waitingServer({ limits: { sessions: 1 } });
    const session = await openSession(server.url, "a");
    const stream = begin(server.url, { headers: as("a", session), method: "GET" });
    await stream.response;
    expect((await post(server.url, { headers: as("a"), body: initialize })).status).toBe(429);
    expect((await post(server.url, { headers: as("b"), body: initialize })).status).toBe(200);
    stream.outgoing.destroy();
  });
});

describe("a body", () => {
  test("that says it is too large is refused before it is sent", async () => {
    await using server = await waitingServer();
    const headers = { "content-length": String(5 * 1024 * 1024) };
    const sent = begin(server.url, { headers });
    sent.outgoing.flushHeaders();
    expect((await sent.response).statusCode).toBe(413);
    sent.outgoing.destroy();
    expect(server.owners).toEqual([]);
  });

  test("that does not say its size is counted as it comes", async () => {
    await using server = await waitingServer({ limits: { bodyBytes: 100_000 } });
    const sent = begin(server.url, { headers: { "transfer-encoding": "chunked" } });
    sent.outgoing.write("x".repeat(100_001));
    expect((await sent.response).statusCode).toBe(413);
    sent.outgoing.destroy();
  });

  test("that does not come ends with status 408, and delays no other request", async () => {
    await using server = await waitingServer({ times: { receive: 1000 } });
    const sent = begin(server.url, { headers: { "content-length": "100" } });
    sent.outgoing.write("{");
    expect((await post(server.url, { body: initialize })).status).toBe(200);
    expect((await sent.response).statusCode).toBe(408);
    sent.outgoing.destroy();
  });

  test.each([
    ["is not JSON", "{", -32700],
    ["is a batch", "[]", -32600],
    ["is no message", "{}", -32600],
    ["has a method that is no text", '{"method":1,"id":1}', -32600],
  ])("that %s", async (_what, text, code) => {
    await using server = await waitingServer();
    const sent = begin(server.url, {});
    sent.outgoing.end(text);
    const ended = await sent.ended;
    expect(ended.status).toBe(400);
    expect(messagesIn(ended)).toMatchObject([{ id: null, error: { code } }]);
  });
});

test("headers may have 10,000 bytes, and not 20,000", async () => {
  await using server = await waitingServer();
  const status = async (bytes: number) =>
    (await post(server.url, { headers: { "x-long": "x".repeat(bytes) }, body: initialize })).status;
  expect(await status(10_000)).toBe(200);
  expect(await status(20_000)).toBe(431);
});

describe("open requests", () => {
  const call = (id: number) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "x" } });

  test("have a limit for each owner, in both eras together", async () => {
    await using server = await waitingServer({ limits: { ownerRequests: 2 } });
    const session = await openSession(server.url, "a");
    const first = begin(server.url, { headers: as("a", session), body: call(7) });
    const { headers, body } = modern("tools/call", { name: "x" });
    const second = begin(server.url, { headers: { ...headers, ...as("a") }, body });
    await server.calls.reached(2);
    const refused = await post(server.url, { headers: as("a", session), body: call(8) });
    expect(refused.status).toBe(429);
    expect(messagesIn(refused)).toMatchObject([{ id: 8, error: { code: -32000 } }]);
    expect((await post(server.url, { headers: { ...headers, ...as("a") }, body })).status).toBe(429);
    const other = begin(server.url, { headers: { ...headers, ...as("b") }, body });
    await server.calls.reached(3);

    // Closing the stream cancels in the modern era.
    second.outgoing.destroy();
    await server.calls.items[1]?.cancelled;
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } };
    expect((await post(server.url, { headers: as("a", session), body: cancelled })).status).toBe(202);
    expect((await first.ended).status).toBe(202);
    const again = [9, 10].map((id) => begin(server.url, { headers: as("a", session), body: call(id) }));
    for (const one of (await server.calls.reached(5)).slice(2)) one.finish({ content: [] });
    for (const one of [...again, other]) expect((await one.ended).status).toBe(200);
  });

  test("have different ids in a session", async () => {
    await using server = await waitingServer();
    const session = await openSession(server.url, "a");
    const first = begin(server.url, { headers: as("a", session), body: call(7) });
    await server.calls.reached(1);
    const second = await post(server.url, { headers: as("a", session), body: call(7) });
    expect(messagesIn(second)).toMatchObject([{ id: 7, error: { code: -32600 } }]);
    server.calls.items[0]?.finish({ content: [] });
    expect((await first.ended).status).toBe(200);
  });

  test("do not count subscriptions, which have a limit of their own", async () => {
    await using server = await waitingServer({ limits: { streams: 1, requests: 1 } });
    const listening = begin(server.url, modern("subscriptions/listen"));
    await server.calls.reached(1);
    expect((await post(server.url, modern("subscriptions/listen"))).status).toBe(429);
    const calling = begin(server.url, modern("tools/call", { name: "x" }));
    (await server.calls.reached(2))[1]?.finish({ content: [] });
    expect((await calling.ended).status).toBe(200);
    listening.outgoing.destroy();
    await server.calls.items[0]?.cancelled;
  });
});

test("a port in use is named", async () => {
  await using server = await waitingServer();
  const port = Number(new URL(server.url).port);
  await expect(listenHttp({ eras: ["legacy"], port, onClient() {} })).rejects.toThrow(
    `port ${port} is in use by another program`,
  );
});
