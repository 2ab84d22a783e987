import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import type { Channel, OpenChannel } from "../../src/rpc/channel.ts";
import { createHttpFace, type HttpFaceOptions } from "../../src/serve/http-face.ts";
import { createHttpOwners } from "../../src/serve/http-owners.ts";
import type { JsonObject } from "../../src/session.ts";
import { turn } from "../support/collected.ts";
import { recorder } from "../support/recorder.ts";
import { type WrittenResponse, writtenResponse } from "../support/written-response.ts";

const version = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientCapabilities": {},
};
const legacyVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];
const initialize = { jsonrpc: "2.0", id: 1, method: "initialize" };

function requestWith(headers: IncomingMessage["headers"], method: string): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { headers, method });
}

/** The status, the headers and the body of what was written. */
function partsOf({ text }: WrittenResponse) {
  const [head = "", body = ""] = text().split("\r\n\r\n");
  const [status = "", ...headers] = head.split("\r\n");
  return { status: status.split(" ")[1] ?? "", headers, body };
}

const accepted = { owner: "me", context: "the context" };

/** Handles requests of one owner; `opens` are the clients that were served. */
function face(options: Partial<HttpFaceOptions<string>> = {}, limits = { sessions: 2, requests: 2, streams: 1 }) {
  const opens: { readonly open: OpenChannel; readonly era: string; readonly context: string }[] = [];
  const owners = createHttpOwners({ ...limits, ownerRequests: 100, unsentBytes: 100_000 }, () => 0);
  const owner = owners.get("me");
  const handler = createHttpFace<string>({
    eras: ["legacy", "modern"],
    onClient: (open, era, context) => void opens.push({ open, era, context }),
    ...options,
  });
  return {
    opens,
    owner,
    end: () => owners.end(),
    post: (body: unknown, headers: IncomingMessage["headers"] = {}): WrittenResponse => {
      const written = writtenResponse();
      const text = typeof body === "string" ? body : JSON.stringify(body);
      void handler.takePost({ text, headers }, written.response, owner, accepted);
      return written;
    },
    other: (method: string, headers: IncomingMessage["headers"] = {}): WrittenResponse => {
      const written = writtenResponse();
      void handler.takeOther(requestWith(headers, method), written.response, owner, accepted);
      return written;
    },
    /** Opens the client with this number and returns its channel and what it got. */
    serve: async (number = 0): Promise<{ readonly channel: Channel; readonly events: ReturnType<typeof recorder> }> => {
      const events = recorder();
      const open = opens[number]?.open;
      if (open === undefined) throw new Error("no such client");
      const channel = await open(events);
      await turn();
      return { channel, events };
    },
  };
}

const modernHeaders = (method: string, more: Record<string, string> = {}): Record<string, string> => ({
  "mcp-protocol-version": version,
  "mcp-method": method,
  ...more,
});
const modern = (method: string, id: unknown = 1, params: JsonObject = {}): object => ({
  jsonrpc: "2.0",
  id,
  method,
  params: { ...params, _meta: meta },
});
const error = (id: unknown, code: number, message: string, data?: unknown): object => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data !== undefined && { data }) },
});
const busy = "this client has too many open requests, streams or sessions";

describe("a body that is no message", () => {
  test.each([
    ["{", -32700, "the request body is not JSON"],
    ["7", -32600, "the request body is not a single JSON-RPC message"],
    ["[]", -32600, "the request body is not a single JSON-RPC message"],
    ['{"method":7}', -32600, "the request body is not a single JSON-RPC message"],
    ['{"id":1}', -32600, "the request body is not a single JSON-RPC message"],
    ['{"result":{}}', -32600, "the request body is not a single JSON-RPC message"],
  ])("%s is refused", (body, code, message) => {
    const { status, body: answered } = partsOf(face().post(body));
    expect([status, JSON.parse(answered)]).toEqual(["400", error(null, code, message)]);
  });

  test.each([{ id: 1, result: {} }, { id: 1, error: {} }, { method: "n" }])("but %j is one", (body) => {
    const answered: unknown = JSON.parse(partsOf(face().post(body)).body);
    const missing = "the header mcp-session-id is missing: send initialize first";
    expect(answered).toEqual(error(null, -32000, missing));
  });
});

describe("an era that is not served", () => {
  test("is refused with the versions of the other", () => {
    const onlyModern = partsOf(face({ eras: ["modern"] }).post(initialize));
    expect([onlyModern.status, JSON.parse(onlyModern.body)]).toEqual([
      "400",
      error(1, -32022, `this server supports the protocol versions ${version}`, { supported: [version] }),
    ]);
    const onlyLegacy = partsOf(face({ eras: ["legacy"] }).post({ ...modern("x"), id: undefined }));
    expect([onlyLegacy.status, JSON.parse(onlyLegacy.body)]).toEqual([
      "400",
      error(null, -32000, `this server supports the protocol versions ${legacyVersions.join(", ")}`, {
        supported: legacyVersions,
      }),
    ]);
  });
});

describe("a modern message", () => {
  test("with headers for its arguments is served and answered", async () => {
    const { post, opens, serve } = face();
    const headers = modernHeaders("tools/call", { "mcp-name": "t", "mcp-param-a": "1", other: "x" });
    const written = post(modern("tools/call", "a", { name: "t" }), headers);
    expect(opens.map(({ era, context }) => [era, context])).toEqual([["modern", "the context"]]);
    const { channel, events } = await serve();
    expect(events.messages).toEqual([modern("tools/call", "a", { name: "t" })]);
    await channel.send({ jsonrpc: "2.0", id: "a", result: {} });
    const { status, headers: given, body } = partsOf(written);
    expect([status, body]).toEqual(["200", '{"jsonrpc":"2.0","id":"a","result":{}}']);
    expect(given).toContain("content-type: application/json");
  });

  test("is answered with an event if the client prefers events", async () => {
    const { post, serve } = face();
    const written = post(modern("x"), { ...modernHeaders("x"), accept: "text/event-stream" });
    const { channel } = await serve();
    await channel.send({ jsonrpc: "2.0", id: 1, result: {} });
    await turn();
    expect(partsOf(written).body).toBe('event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
  });

  test("that is a notification is accepted and not served", () => {
    const { post, opens } = face();
    const { status, body } = partsOf(post({ ...modern("n"), id: undefined }, modernHeaders("n")));
    expect([status, body, opens.length]).toEqual(["202", "", 0]);
  });

  test("whose headers do not match is refused, also because of a tool's schema", () => {
    const schemas: unknown[] = [];
    const { post, opens } = face({
      schemaOf(context, tool) {
        schemas.push([context, tool]);
        return { properties: { a: { type: "string", "x-mcp-header": "A" } } };
      },
    });
    const wrong = partsOf(post(modern("x"), modernHeaders("y")));
    expect([wrong.status, JSON.parse(wrong.body)]).toEqual([
      "400",
      error(1, -32020, "the header mcp-method does not match the body"),
    ]);
    const call = modern("tools/call", 1, { name: "t", arguments: { a: "1" } });
    const missing = partsOf(post(call, modernHeaders("tools/call", { "mcp-name": "t" })));
    expect(JSON.parse(missing.body)).toEqual(error(1, -32020, "the header mcp-param-a is missing"));
    expect(schemas).toEqual([["the context", "t"]]);
    expect(opens).toEqual([]);
  });

  test("counts as a request or as a stream until its end", async () => {
    const { post, serve, end } = face();
    const listen = "subscriptions/listen";
    const written = ["x", "x", "x", listen, listen].map((method) => post(modern(method), modernHeaders(method)));
    expect(written.map((one) => partsOf(one).status)).toEqual(["", "", "429", "", "429"]);
    expect(JSON.parse(partsOf(written[2] ?? writtenResponse()).body)).toEqual(error(1, -32000, busy));
    const { channel } = await serve();
    await channel.send({ jsonrpc: "2.0", id: 1, result: {} });
    // The response counts until it is written.
    await turn();
    expect(partsOf(post(modern("x"), modernHeaders("x"))).status).toBe("");
    end();
    await turn();
  });

  test("is abandoned with its connection, and its response is no longer kept alive", async () => {
    const { post, serve, owner } = face();
    const written = post(modern("x"), modernHeaders("x"));
    expect(owner.answers.size).toBe(1);
    const { events } = await serve();
    written.response.destroy();
    expect(await events.over).toBeUndefined();
    expect(owner.answers.size).toBe(0);
  });

  test("whose server fails gets the status 503", async () => {
    const { post } = face({ onClient: () => Promise.reject(new Error("no")) });
    const written = post(modern("x"), modernHeaders("x"));
    await turn();
    expect(partsOf(written).status).toBe("503");
  });
});

describe("a legacy message", () => {
  const sessionOf = (written: WrittenResponse): string =>
    /mcp-session-id: (\w+)/.exec(partsOf(written).headers.join("\n"))?.[1] ?? "";

  /** A face with one open session. */
  async function opened(limits?: { sessions: number; requests: number; streams: number }) {
    const all = face({}, limits);
    const first = all.post(initialize);
    const { channel, events } = await all.serve();
    await channel.send({ jsonrpc: "2.0", id: 1, result: {} });
    const id = sessionOf(first);
    return { ...all, channel, events, id, headers: { "mcp-session-id": id } };
  }

  test("initialize opens a session, whose id is in the header", async () => {
    const { id, events, opens, end } = await opened();
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(opens.map(({ era, context }) => [era, context])).toEqual([["legacy", "the context"]]);
    expect(events.messages).toEqual([initialize]);
    end();
  });

  test("of a session reaches the same client", async () => {
    const { post, headers, channel, events, opens, id, end } = await opened();
    const written = post({ jsonrpc: "2.0", id: 2, method: "x" }, headers);
    const notified = post({ jsonrpc: "2.0", method: "n" }, headers);
    await channel.send({ jsonrpc: "2.0", id: 2, result: { a: 1 } });
    expect([partsOf(written).body, partsOf(notified).status]).toEqual([
      '{"jsonrpc":"2.0","id":2,"result":{"a":1}}',
      "202",
    ]);
    expect(partsOf(written).headers).toContain(`mcp-session-id: ${id}`);
    expect(events.messages.map(({ method }) => method)).toEqual(["initialize", "x", "n"]);
    expect(opens).toHaveLength(1);
    end();
  });

  test.each<[string, object, Record<string, string>, string, object]>([
    [
      "initialize without an id",
      { jsonrpc: "2.0", method: "initialize" },
      {},
      "400",
      error(null, -32600, "the initialize request has no id"),
    ],
    [
      "no session",
      { jsonrpc: "2.0", id: 2, method: "x" },
      {},
      "400",
      error(2, -32000, "the header mcp-session-id is missing: send initialize first"),
    ],
    [
      "an unknown session",
      { jsonrpc: "2.0", id: 2, method: "x" },
      { "mcp-session-id": "other" },
      "404",
      error(2, -32001, "unknown session: send initialize again"),
    ],
    [
      "an unknown version",
      { jsonrpc: "2.0", id: 2, method: "x" },
      { "mcp-session-id": "other", "mcp-protocol-version": "2020-01-01" },
      "400",
      error(2, -32000, "the protocol version in the header is not supported"),
    ],
  ])("with %s is refused", (_, message, headers, status, answer) => {
    const written = partsOf(face().post(message, headers));
    expect([written.status, JSON.parse(written.body)]).toEqual([status, answer]);
  });

  test("with a known version, or initialize with any, is taken", async () => {
    const { post, headers, end, events } = await opened();
    post({ jsonrpc: "2.0", method: "n" }, { ...headers, "mcp-protocol-version": "2024-11-05" });
    expect(events.messages).toHaveLength(2);
    expect(partsOf(post(initialize, { "mcp-protocol-version": "2020-01-01" })).status).toBe("");
    end();
    await turn();
  });

  test("with the id of an open request is refused", async () => {
    const { post, headers, end } = await opened();
    post({ jsonrpc: "2.0", id: 2, method: "x" }, headers);
    const written = partsOf(post({ jsonrpc: "2.0", id: 2, method: "y" }, headers));
    expect([written.status, JSON.parse(written.body)]).toEqual([
      "400",
      error(2, -32600, "a request with this id is already open"),
    ]);
    end();
    await turn();
  });

  test("over the limit of requests or sessions is refused, until an open request is answered", async () => {
    const { post, headers, channel, end } = await opened({ sessions: 1, requests: 2, streams: 1 });
    const ask = (id: number): WrittenResponse => post({ jsonrpc: "2.0", id, method: "x" }, headers);
    ask(2);
    const full = partsOf(post(initialize));
    expect([full.status, JSON.parse(full.body)]).toEqual(["429", error(1, -32000, busy)]);
    ask(3);
    const tooMany = partsOf(ask(4));
    expect([tooMany.status, JSON.parse(tooMany.body)]).toEqual(["429", error(4, -32000, busy)]);
    await channel.send({ jsonrpc: "2.0", id: 2, result: {} });
    await turn();
    expect(partsOf(ask(5)).status).toBe("");
    end();
    await turn();
  });

  test("stays open after its connection is closed", async () => {
    const { post, headers, events, id, owner, end } = await opened();
    post({ jsonrpc: "2.0", id: 2, method: "x" }, headers).response.destroy();
    await turn();
    expect(events.messages).toHaveLength(2);
    expect(owner.findSession(id)?.has(2)).toBe(true);
    end();
  });

  test("ends if the client leaves before it gets the response to initialize, which has the session's id", async () => {
    const { post, serve, owner } = face();
    const { response } = post(initialize);
    const { events } = await serve();
    response.destroy();
    await events.over;
    // Its place is free again.
    expect([owner.enter("requests"), owner.enter("requests")]).not.toContain(undefined);
  });

  test("that comes before the server is ready waits, and gets the status 503 if all sessions end", async () => {
    const { post, end } = face({}, { sessions: 1, requests: 200, streams: 1 });
    const first = post(initialize);
    expect(partsOf(first).status).toBe("");
    end();
    await turn();
    expect(partsOf(first).status).toBe("503");
  });

  test("whose server fails gets the status 503, and no longer counts as a request", async () => {
    const { post, owner } = face({ onClient: () => Promise.reject(new Error("no")) });
    const first = post(initialize);
    await turn();
    expect(partsOf(first).status).toBe("503");
    expect(owner.enter("requests")).toBeDefined();
    expect(owner.enter("requests")).toBeDefined();
  });

  test("GET opens the session's only stream, and DELETE ends the session", async () => {
    const { other, headers, id, events, channel } = await opened({ sessions: 1, requests: 1, streams: 2 });
    const stream = other("GET", headers);
    expect(partsOf(stream)).toMatchObject({
      status: "200",
      headers: expect.arrayContaining([`mcp-session-id: ${id}`]),
    });
    expect(partsOf(other("GET", headers)).status).toBe("409");
    await channel.send({ jsonrpc: "2.0", method: "n" });
    await turn();
    expect(partsOf(stream).body).toBe('event: message\ndata: {"jsonrpc":"2.0","method":"n"}\n\n');
    expect(partsOf(other("DELETE", headers)).status).toBe("200");
    expect(await events.over).toBeUndefined();
    expect([partsOf(other("DELETE", headers)).status, partsOf(other("GET", headers)).status]).toEqual(["404", "404"]);
  });

  test("GET without a session is not allowed; GET with one counts as a stream until it is closed", async () => {
    const { other, headers, end } = await opened();
    const { status, headers: given } = partsOf(other("GET"));
    expect([status, given.includes("allow: POST")]).toEqual(["405", true]);
    const stream = other("GET", headers);
    expect(partsOf(other("GET", headers)).status).toBe("429");
    stream.response.destroy();
    await turn();
    expect(partsOf(other("GET", headers)).status).toBe("200");
    end();
    await turn();
  });
});
