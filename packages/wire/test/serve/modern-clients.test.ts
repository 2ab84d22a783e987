import { expect, test } from "vitest";
import type { Channel, ChannelEvents, OpenChannel } from "../../src/rpc/channel.ts";
import { listenHttp } from "../../src/serve/http-listener.ts";
import { createModernClients } from "../../src/serve/modern-clients.ts";
import type { JsonObject } from "../../src/session.ts";
import { parseObject } from "../../src/shapes/json.ts";

const subscriptionKey = "io.modelcontextprotocol/subscriptionId";
const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

interface Arrived {
  readonly message: JsonObject;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/** One connection to a server that a test plays: it takes messages with `next` and sends with `channel`. */
interface Served {
  readonly channel: Channel;
  next(): Promise<Arrived>;
  end(): void;
}

/** Gives the first value to the first who waits. */
function queue<T>() {
  const values: T[] = [];
  const waiting: ((value: T) => void)[] = [];
  return {
    push(value: T): void {
      const first = waiting.shift();
      if (first) first(value);
      else values.push(value);
    },
    next: async (): Promise<T> => values.shift() ?? new Promise<T>((resolve) => waiting.push(resolve)),
  };
}

/** A listener whose modern requests are one client; `connections` gives each connection that was made for it. */
async function listening() {
  const connections = queue<Served>();
  const modern = createModernClients(async (open: OpenChannel) => {
    const arrived = queue<Arrived>();
    let end: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const events: ChannelEvents = {
      message(message, _size, _about, headers) {
        arrived.push({ message, headers });
        return undefined;
      },
      largest: () => 1000,
      dropped() {},
      closed() {},
      diagnostic() {},
    };
    const channel = await open(events);
    connections.push({ channel, next: arrived.next, end });
    await ended;
    await channel.close();
  });
  const schemaOf = (_: undefined, tool: string): unknown => modern.schemaOf(tool);
  const listener = await listenHttp({ eras: ["modern"], onClient: modern.add, schemaOf });

  async function post(message: JsonObject, headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal) {
    const { name } = message["params"] as JsonObject;
    return fetch(listener.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": String(message["method"]),
        ...(typeof name === "string" && { "mcp-name": name }),
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      signal: signal ?? null,
    });
  }
  return { connections, post, close: () => listener.close() };
}

const call = (id: number | string, meta: object = {}, args: object = {}): JsonObject => ({
  id,
  method: "tools/call",
  params: { name: "echo", arguments: args, _meta: { ...envelope, ...meta } },
});

/** The messages of an event stream. */
async function eventsOf(response: Response): Promise<readonly unknown[]> {
  return (await response.text())
    .split("\n")
    .flatMap((line) => (line.startsWith("data:") ? [parseObject(line.slice(5))] : []));
}

test("requests with the same id and progress token share one connection, and each gets its own answer", async () => {
  const { connections, post, close } = await listening();
  // Either may arrive first.
  const texts = ["one", "two"];
  const posted = texts.map((text) => post(call(1, { progressToken: 1 }, { text })));
  const server = await connections.next();
  const arrived = [(await server.next()).message, (await server.next()).message];
  expect(new Set(arrived.map(({ id }) => id)).size).toBe(2);
  for (const message of arrived) {
    const { id, params: called } = message as { id: number; params: { arguments: { text: string } } };
    const { text } = called.arguments;
    const params = { progressToken: id, progress: 1, message: text };
    await server.channel.send({ jsonrpc: "2.0", method: "notifications/progress", params }, { about: id });
    await server.channel.send({ jsonrpc: "2.0", id, result: { of: text } });
  }
  const answers = await Promise.all(posted.map(async (response) => eventsOf(await response)));
  expect(answers).toEqual(
    texts.map((text) => [
      expect.objectContaining({ params: { progressToken: 1, progress: 1, message: text } }),
      { jsonrpc: "2.0", id: 1, result: { of: text } },
    ]),
  );
  server.end();
  await close();
});

test("a subscription has the client's own id; a client that goes away cancels its request", async () => {
  const { connections, post, close } = await listening();
  const leaving = new AbortController();
  const listen = { id: "mine", method: "subscriptions/listen", params: { _meta: envelope } };
  const posted = post(listen, {}, leaving.signal);
  const server = await connections.next();
  const { id } = (await server.next()).message as { id: number };
  const params = { _meta: { [subscriptionKey]: id } };
  await server.channel.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed", params }, { about: id });
  const reader = ((await posted).body ?? new ReadableStream<Uint8Array>()).getReader();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toContain(`"${subscriptionKey}":"mine"`);
  leaving.abort();
  expect((await server.next()).message).toMatchObject({
    method: "notifications/cancelled",
    params: { requestId: id },
  });
  server.end();
  await close();
});

test("headers that repeat arguments are passed on, and compared once the tool is listed", async () => {
  const { connections, post, close } = await listening();
  const header = { "mcp-param-region": "north" };
  const first = post(call(1, {}, { region: "north" }), header);
  const server = await connections.next();
  const { message, headers } = await server.next();
  expect(headers).toEqual(header);
  await server.channel.send({ jsonrpc: "2.0", id: message["id"], result: {} });
  await (await first).text();

  const list = post({ id: 2, method: "tools/list", params: { _meta: envelope } });
  const { id } = (await server.next()).message;
  const properties = { region: { type: "string", "x-mcp-header": "Region" } };
  const tools = [{ name: "echo", inputSchema: { type: "object", properties } }];
  await server.channel.send({ jsonrpc: "2.0", id, result: { tools } });
  await (await list).text();

  const wrong = await post(call(3, {}, { region: "south" }), header);
  expect([wrong.status, await wrong.json()]).toMatchObject([400, { id: 3, error: { code: -32020 } }]);
  server.end();
  await close();
});

test("when the connection ends, open requests end and the next one opens another", async () => {
  const { connections, post, close } = await listening();
  const lost = post(call(1));
  const server = await connections.next();
  await server.next();
  server.end();
  expect((await lost).status).toBe(503);
  const next = post(call(2));
  const other = await connections.next();
  const { id } = (await other.next()).message;
  await other.channel.send({ jsonrpc: "2.0", id, result: { ok: true } });
  expect(await (await next).json()).toEqual({ jsonrpc: "2.0", id: 2, result: { ok: true } });
  other.end();
  await close();
});
