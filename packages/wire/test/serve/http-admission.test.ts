import { afterEach, describe, expect, test } from "vitest";
import { type HttpListener, type HttpListenerOptions, listenHttp } from "../../src/serve/http-listener.ts";
import { serveClient } from "../../src/serve/served-session.ts";
import { type Post, post } from "../support/http-post.ts";

const opened: HttpListener[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((listener) => listener.close()));
});

async function listen(options: Partial<HttpListenerOptions>): Promise<HttpListener> {
  const listener = await listenHttp({
    eras: ["legacy", "modern"],
    onClient: (open) => void serveClient(open, () => ({ request: async () => ({ tools: [] }) })),
    ...options,
  });
  opened.push(listener);
  return listener;
}

function send({ url }: HttpListener, { path = "/mcp", body = initialize, ...more }: Post & { path?: string }) {
  return post(new URL(path, url).href, { ...more, body });
}

const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: {} };

describe("who may enter", () => {
  test("an answer that comes later counts as one that comes at once, and the body that came meanwhile is read", async () => {
    const listener = await listen({
      admit: ({ headers }) => Promise.resolve(headers["x-who"] === "me" ? accepted : { status: 401 }),
    });
    expect((await send(listener, { headers: { "x-who": "me" } })).status).toBe(200);
    expect((await send(listener, {})).status).toBe(401);
  });

  test("a refusal has the headers and the body that it was given", async () => {
    const listener = await listen({
      admit: () => ({
        status: 401,
        headers: { "www-authenticate": 'Bearer resource_metadata="https://mcp.example.com/x"' },
        body: { error: "invalid_token" },
      }),
    });
    const { status, headers, text } = await send(listener, {});
    expect(status).toBe(401);
    expect(headers).toMatchObject({
      "www-authenticate": 'Bearer resource_metadata="https://mcp.example.com/x"',
      "content-type": "application/json",
    });
    expect(JSON.parse(text)).toEqual({ error: "invalid_token" });
  });

  test("a client that may connect may still be refused single methods", async () => {
    const listener = await listen({
      admit: () => ({
        ...accepted,
        refusal: (method) =>
          method === "tools/call" ? { status: 403, headers: { "www-authenticate": "Bearer" } } : undefined,
      }),
    });
    const first = await send(listener, {});
    expect(first.status).toBe(200);
    const session = { "mcp-session-id": String(first.headers["mcp-session-id"]) };
    const called = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "x" } };
    expect(await send(listener, { headers: session, body: called })).toMatchObject({
      status: 403,
      headers: { "www-authenticate": "Bearer" },
    });
    expect((await send(listener, { headers: session, body: { ...called, method: "tools/list" } })).status).toBe(200);
  });

  test("a failure of the check refuses the request, and only this one", async () => {
    const listener = await listen({
      admit: ({ headers }) => (headers["x-who"] === "me" ? accepted : Promise.reject(new Error("no"))),
    });
    expect((await send(listener, {})).status).toBe(500);
    expect((await send(listener, { headers: { "x-who": "me" } })).status).toBe(200);
  });
});

const accepted = { owner: "", context: undefined };

describe("names", () => {
  const names = { hosts: ["mcp.example.com"], origins: ["https://mcp.example.com"] };

  test.each([
    ["its public name", { host: "mcp.example.com" }, 200],
    ["its public name in another case", { host: "MCP.Example.com" }, 200],
    ["its public name with another port", { host: "mcp.example.com:81" }, 403],
    ["its public name, and its own page", { host: "mcp.example.com", origin: "https://mcp.example.com" }, 200],
    ["its public name, and another page", { host: "mcp.example.com", origin: "https://evil.example" }, 403],
    [
      "its public name, and its page without encryption",
      { host: "mcp.example.com", origin: "http://mcp.example.com" },
      403,
    ],
    ["another name", { host: "evil.example" }, 403],
    ["the loopback address", {}, 200],
  ])("a request with %s", async (_, headers, status) => {
    expect((await send(await listen({ names }), { headers })).status).toBe(status);
  });

  test("without names, only the loopback address counts", async () => {
    expect((await send(await listen({}), { headers: { host: "mcp.example.com" } })).status).toBe(403);
  });
});

describe("pages", () => {
  const pageAt: HttpListenerOptions["pageAt"] = (path) => {
    const take = (_: unknown, response: { end(text: string): void }): void => response.end(path);
    if (path === "/health") return { anyHost: true, take };
    if (path === "/connect") return { take };
    return path === "/broken" ? { take: () => Promise.reject(new Error("broken")) } : undefined;
  };

  test("answer their paths with any method, without a check of the client", async () => {
    const listener = await listen({ pageAt, admit: () => ({ status: 401 }) });
    expect(await send(listener, { path: "/connect?x=1", method: "PUT" })).toMatchObject({
      status: 200,
      text: "/connect",
    });
    expect((await send(listener, { path: "/other" })).status).toBe(401);
  });

  test("are for requests that name the server, unless everybody may read them", async () => {
    const listener = await listen({ pageAt });
    const headers = { host: "10.0.0.7:8080" };
    expect((await send(listener, { path: "/connect", headers })).status).toBe(403);
    expect((await send(listener, { path: "/health", headers })).status).toBe(200);
  });

  test("that fail answer with status 500", async () => {
    expect((await send(await listen({ pageAt }), { path: "/broken" })).status).toBe(500);
  });
});

test("a listener has the address that it was given", async () => {
  const listener = await listen({ address: "::1" });
  expect(new URL(listener.url).hostname).toBe("[::1]");
  expect((await send(listener, {})).status).toBe(200);
});
