import type { IncomingMessage } from "node:http";
import { afterEach, expect, test } from "vitest";
import type { RpcMessage } from "../../src/rpc/channel.ts";
import { type HttpListener, listenHttp } from "../../src/serve/http-listener.ts";
import type { HttpSessions } from "../../src/serve/http-sessions.ts";
import { type ServedClient, type ServedSession, serveClient } from "../../src/serve/served-session.ts";
import type { JsonObject } from "../../src/session.ts";
import { begin, initialize, messagesIn, post } from "../support/http-post.ts";

const processes: HttpListener[] = [];
afterEach(async () => {
  await Promise.all(processes.splice(0).map((each) => each.close()));
});

/** What processes share. Real ones seal what they know about a session into its id. */
class Shared {
  readonly listeners = new Map<string, HttpListener>();
  readonly began = new Map<string, { readonly context: string; readonly messages: RpcMessage[] }>();
  /** What the processes read now, by the id of the session. */
  readonly reading = new Map<string, Promise<void>>();

  sessionsOf(process: string): HttpSessions<string> {
    return {
      process,
      idOf: (context, initialize) => {
        const id = `session-${this.began.size}`;
        this.began.set(id, { context, messages: [initialize] });
        return id;
      },
      messagesOf: async (context, id) => {
        const found = this.began.get(id);
        return found?.context === context ? found.messages : undefined;
      },
      changed: (id, request) => void this.began.get(id)?.messages.push(request),
      ended: (_, id) => void this.began.delete(id),
      caughtUp: (id) => this.reading.get(id),
      pass: (id, message, to) => {
        for (const [name, listener] of this.listeners)
          if (name !== process && (to === undefined || to === name)) listener.deliver(id, message);
      },
    };
  }
}

/** A server that asks in the tool `ask`, waits for its cancellation in `wait`, and answers everything else with what it knows. */
function session(name: string, cancelled: string[]): (client: ServedClient) => ServedSession {
  return (client) => {
    let declared: unknown;
    let level: unknown;
    return {
      async request(method, params, { id, signal }) {
        if (method === "initialize") {
          declared = params["capabilities"];
          return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name, version: "1" } };
        }
        if (method === "logging/setLevel") level = params["level"];
        if (method !== "tools/call") return { by: name, declared, level };
        if (params["name"] === "ask") return { answer: await client.request("roots/list", {}, { about: id, signal }) };
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            cancelled.push(name);
            reject(signal.reason);
          });
        });
      },
    };
  };
}

async function twoProcesses() {
  const shared = new Shared();
  const cancelled: string[] = [];
  const start = async (name: string): Promise<HttpListener> => {
    const listener = await listenHttp<string>({
      eras: ["legacy"],
      admit: ({ headers: { authorization = "anybody" } }) => ({ owner: authorization, context: authorization }),
      onClient: (open) => void serveClient(open, session(name, cancelled)),
      sessions: shared.sessionsOf(name),
    });
    shared.listeners.set(name, listener);
    processes.push(listener);
    return listener;
  };
  return { shared, cancelled, one: await start("one"), two: await start("two") };
}

const request = (id: number, method: string, params: JsonObject = {}) => ({ jsonrpc: "2.0", id, method, params });

test("a session goes on at another process, with what its client has declared and set", async () => {
  const { one, two } = await twoProcesses();
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: { roots: {} },
    clientInfo: { name: "c", version: "1" },
  };
  const first = await post(one.url, { body: request(1, "initialize", params) });
  const headers = { "mcp-session-id": String(first.headers["mcp-session-id"]) };
  await post(one.url, { headers, body: request(2, "logging/setLevel", { level: "error" }) });
  const [answer] = messagesIn(await post(two.url, { headers, body: request(3, "tools/list") }));
  expect(answer).toMatchObject({ id: 3, result: { by: "two", declared: { roots: {} }, level: "error" } });
});

test("another client has no part in the session, and an ended one is unknown to all", async () => {
  const { one, two } = await twoProcesses();
  const first = await post(one.url, { body: initialize });
  const headers = { "mcp-session-id": String(first.headers["mcp-session-id"]) };
  const as = (authorization: string) => ({ headers: { ...headers, authorization }, body: request(2, "tools/list") });
  expect((await post(two.url, as("another"))).status).toBe(404);
  expect((await post(two.url, as("anybody"))).status).toBe(200);
  expect((await post(two.url, { headers, method: "DELETE" })).status).toBe(200);
  expect((await post(two.url, as("anybody"))).status).toBe(404);
});

test("a request waits until its process has read what it was told of the session", async () => {
  const { one, two, shared } = await twoProcesses();
  const first = await post(one.url, { body: initialize });
  const id = String(first.headers["mcp-session-id"]);
  const headers = { "mcp-session-id": id };
  expect((await post(two.url, { headers, body: request(2, "tools/list") })).status).toBe(200);
  expect((await post(one.url, { headers, method: "DELETE" })).status).toBe(200);
  let isRead: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    const reading = new Promise<void>((read) => {
      isRead = read;
    });
    shared.reading.get = () => {
      resolve();
      return reading;
    };
  });
  const asked = post(two.url, { headers, body: request(3, "tools/list") });
  await begun;
  two.end(id);
  isRead();
  expect((await asked).status).toBe(404);
  expect((await post(two.url, { headers, method: "DELETE" })).status).toBe(404);
});

test("an answer reaches the process that has asked, whichever gets it", async () => {
  const { one, two } = await twoProcesses();
  const first = await post(one.url, { body: initialize });
  const headers = { "mcp-session-id": String(first.headers["mcp-session-id"]) };
  // Both processes ask at the same time, each with the first request that it sends in this session.
  const calls = [one, two].map(({ url }, at) => {
    const call = begin(url, { headers, body: request(10 + at, "tools/call", { name: "ask" }) });
    return { ended: call.ended, question: call.response.then(questionIn) };
  });
  for (const [at, { question, ended }] of calls.entries()) {
    const result = { roots: [{ uri: `file:///${at}` }] };
    const other = at === 0 ? two : one;
    const body = { jsonrpc: "2.0", id: (await question)["id"], result };
    expect((await post(other.url, { headers, body })).status).toBe(202);
    expect(messagesIn(await ended).at(-1)).toMatchObject({ id: 10 + at, result: { answer: result } });
  }
});

function questionIn(response: IncomingMessage): Promise<RpcMessage> {
  return new Promise((resolve) => {
    response.on("data", (chunk: Buffer) => {
      const data = /data: (.*roots\/list.*)/.exec(String(chunk))?.[1];
      if (data !== undefined) resolve(JSON.parse(data));
    });
  });
}

test("a cancellation reaches the process that runs the request", async () => {
  const { one, two, cancelled } = await twoProcesses();
  const first = await post(one.url, { body: initialize });
  const headers = { "mcp-session-id": String(first.headers["mcp-session-id"]) };
  const call = begin(one.url, { headers, body: request(7, "tools/call", { name: "wait" }) });
  // The request is open when the server has got it: one more request of the session comes after it.
  await post(one.url, { headers, body: request(8, "tools/list") });
  const params = { requestId: 7 };
  await post(two.url, { headers, body: { jsonrpc: "2.0", method: "notifications/cancelled", params } });
  expect((await call.ended).status).toBe(202);
  expect(cancelled).toEqual(["one"]);
});
