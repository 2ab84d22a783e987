import { describe, expect, test } from "vitest";
import type { Channel, ChannelEvents, OpenChannel, RpcMessage } from "../../src/rpc/channel.ts";
import { createModernClients } from "../../src/serve/modern-clients.ts";
import type { JsonObject } from "../../src/session.ts";
import { turn } from "../support/collected.ts";
import { type Recorder, recorder } from "../support/recorder.ts";

const subscriptionKey = "io.modelcontextprotocol/subscriptionId";

interface OpenRequest {
  readonly open: OpenChannel;
  /** What the server sent on this request's connection. */
  readonly sent: RpcMessage[];
  readonly closings: () => number;
  /** The client closes its connection. */
  readonly leave: () => void;
}

/** A request on its own connection. Its message arrives right after it was opened. */
function request(message: RpcMessage, headers?: Readonly<Record<string, string>>): OpenRequest {
  const sent: RpcMessage[] = [];
  let closings = 0;
  let events: ChannelEvents | undefined;
  return {
    sent,
    closings: () => closings,
    leave: () => events?.closed(undefined),
    async open(given) {
      events = given;
      queueMicrotask(() => given.message({ jsonrpc: "2.0", ...message }, 77, undefined, headers));
      return {
        cancelBy: "stream",
        async send(one) {
          sent.push(one);
        },
        setProtocolVersion: () => undefined,
        async close() {
          closings += 1;
        },
      };
    },
  };
}

interface Connection {
  readonly channel: Channel;
  readonly events: Recorder;
  readonly arrivals: (readonly unknown[])[];
  readonly closings: () => number;
  readonly end: () => void;
}

/** The clients, and the connections that the server got for them. */
function clients() {
  const connections: Connection[] = [];
  const modern = createModernClients(async (open) => {
    const events = recorder();
    const arrivals: (readonly unknown[])[] = [];
    let closings = 0;
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const channel = await open({
      ...events,
      message(message, ...more) {
        arrivals.push(more);
        return events.message(message, ...more);
      },
      closed() {
        closings += 1;
      },
    });
    connections.push({ channel, events, arrivals, closings: () => closings, end });
    await ended;
  });
  const connection = (at = 0): Connection => {
    const found = connections[at];
    if (found === undefined) throw new Error("no such connection");
    return found;
  };
  return { ...modern, connections, connection };
}

const result = (id: unknown, given: JsonObject = {}): RpcMessage => ({ jsonrpc: "2.0", id, result: given });

describe("requests over several connections", () => {
  test("reach the server as one client, each under a new id, and get their own responses", async () => {
    const { add, connections, connection } = clients();
    const [one, two] = [request({ id: 5, method: "a", params: { x: 1 } }, { h: "1" }), request({ id: 5, method: "b" })];
    for (const { open } of [one, two]) add(open);
    await turn();
    const { channel, events, arrivals } = connection();
    expect(connections).toHaveLength(1);
    expect(events.messages).toEqual([
      { jsonrpc: "2.0", id: 1, method: "a", params: { x: 1 } },
      { jsonrpc: "2.0", id: 2, method: "b", params: {} },
    ]);
    expect(arrivals).toEqual([
      [77, undefined, { h: "1" }],
      [77, undefined, undefined],
    ]);
    await channel.send(result(2, { two: true }));
    await channel.send(result(1, { one: true }));
    await channel.send(result(1, { again: true }));
    await turn();
    expect([one.sent, two.sent]).toEqual([[result(5, { one: true })], [result(5, { two: true })]]);
    expect(channel.cancelBy).toBe("message");
  });

  test("that come later reach the connection that is open", async () => {
    const { add, connections, connection } = clients();
    add(request({ id: 1, method: "a" }).open);
    await turn();
    add(request({ id: 1, method: "b" }).open);
    await turn();
    expect(connections).toHaveLength(1);
    expect(connection().events.messages.map(({ id, method }) => [id, method])).toEqual([
      [1, "a"],
      [2, "b"],
    ]);
  });

  test("have their progress token renamed, and named as before in what the server sends", async () => {
    const { add, connection } = clients();
    const withToken = request({ id: "x", method: "a", params: { _meta: { progressToken: "mine", other: 1 } } });
    const without = request({ id: "y", method: "b", params: { _meta: { other: 2 } } });
    for (const { open } of [withToken, without]) add(open);
    await turn();
    const { channel, events } = connection();
    expect(events.messages.map(({ params }) => params)).toEqual([
      { _meta: { progressToken: 1, other: 1 } },
      { _meta: { other: 2 } },
    ]);
    const progress = (progressToken: unknown): RpcMessage => ({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken, progress: 1 },
    });
    const note = { jsonrpc: "2.0", method: "n", params: { _meta: { [subscriptionKey]: 2, z: 1 } } };
    await channel.send(progress(1), { about: 1 });
    await channel.send(progress(2), { about: 2 });
    await channel.send(note, { about: 2 });
    await channel.send({ jsonrpc: "2.0", method: "plain" }, { about: 2 });
    await channel.send(note, { about: 9 });
    await channel.send(note);
    await turn();
    expect(withToken.sent).toEqual([progress("mine")]);
    expect(without.sent).toEqual([
      progress(2),
      { jsonrpc: "2.0", method: "n", params: { _meta: { [subscriptionKey]: "y", z: 1 } } },
      { jsonrpc: "2.0", method: "plain" },
    ]);
  });
});

describe("a client that closes its connection", () => {
  const cancelled = (requestId: number): RpcMessage => ({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId },
  });

  test("cancels its request, once, and gets no response", async () => {
    const { add, connection } = clients();
    const one = request({ id: 5, method: "a" });
    add(one.open);
    await turn();
    one.leave();
    one.leave();
    const { channel, events, arrivals } = connection();
    expect(events.messages.slice(1)).toEqual([cancelled(1)]);
    expect(arrivals[1]?.[0]).toBe(0);
    await channel.send(result(1));
    await turn();
    expect(one.sent).toEqual([]);
  });

  test("after its response cancels nothing", async () => {
    const { add, connection } = clients();
    const one = request({ id: 5, method: "a" });
    add(one.open);
    await turn();
    await connection().channel.send(result(1));
    one.leave();
    expect(connection().events.messages).toHaveLength(1);
  });

  test("before the server is ready leaves no request behind", async () => {
    let go: () => void = () => undefined;
    const ready = new Promise<void>((resolve) => {
      go = resolve;
    });
    const events = recorder();
    const { add } = createModernClients(async (open) => {
      await ready;
      await open(events);
      await new Promise(() => undefined);
    });
    const [one, two] = [request({ id: 5, method: "a" }), request({ id: 6, method: "b" })];
    for (const { open } of [one, two]) add(open);
    await turn();
    one.leave();
    go();
    await turn();
    expect(events.messages.map(({ method }) => method)).toEqual(["b"]);
  });
});

describe("the connection to the server", () => {
  test("that is closed ends all open requests, and the next request opens another", async () => {
    const { add, connections, connection } = clients();
    const [one, two] = [request({ id: 5, method: "a" }), request({ id: 6, method: "b" })];
    add(one.open);
    await turn();
    const first = connection();
    await first.channel.close();
    await first.channel.close();
    expect([one.closings(), first.closings()]).toEqual([1, 1]);
    await first.channel.send(result(1));
    await turn();
    expect(one.sent).toEqual([]);
    first.end();
    await turn();
    add(two.open);
    await turn();
    expect(connections).toHaveLength(2);
    expect(connection(1).events.messages.map(({ id, method }) => [id, method])).toEqual([[2, "b"]]);
  });

  test("that ends while requests wait is opened again for them", async () => {
    const { add, connections, connection } = clients();
    add(request({ id: 5, method: "a" }).open);
    await turn();
    const first = connection();
    await first.channel.close();
    add(request({ id: 6, method: "b" }).open);
    await turn();
    expect(connections).toHaveLength(1);
    first.end();
    await turn();
    expect(connection(1).events.messages.map(({ method }) => method)).toEqual(["b"]);
  });

  test.each([
    ["ends", () => Promise.resolve()],
    ["fails", () => Promise.reject(new Error("no"))],
  ])("that %s before it was opened ends the requests that wait", async (_, serve) => {
    let served = 0;
    const { add } = createModernClients(() => {
      served += 1;
      return serve();
    });
    const [one, two] = [request({ id: 5, method: "a" }), request({ id: 6, method: "b" })];
    add(one.open);
    await turn();
    expect([one.closings(), served]).toEqual([1, 1]);
    add(two.open);
    await turn();
    expect([two.closings(), served]).toEqual([1, 2]);
  });
});

describe("the schemas of tools", () => {
  test("are those of the last list", async () => {
    const { add, connection, schemaOf } = clients();
    const list = async (id: number, method: string, tools: unknown): Promise<void> => {
      add(request({ id: 1, method }).open);
      await turn();
      await connection().channel.send(result(id, { tools }));
    };
    await list(1, "tools/list", [{ name: "a", inputSchema: { first: 1 } }, { name: 7, inputSchema: 1 }, "b"]);
    expect([schemaOf("a"), schemaOf("7"), schemaOf("b")]).toEqual([{ first: 1 }, undefined, undefined]);
    await list(2, "tools/list", [{ name: "a", inputSchema: { second: 2 } }, { name: "c" }]);
    await list(3, "other/list", [{ name: "a", inputSchema: { third: 3 } }]);
    await list(4, "tools/list", "none");
    expect([schemaOf("a"), schemaOf("c")]).toEqual([{ second: 2 }, undefined]);
  });

  test("are kept for ten thousand tools", async () => {
    const { add, connection, schemaOf } = clients();
    add(request({ id: 1, method: "tools/list" }).open);
    await turn();
    const tools = Array.from({ length: 10_001 }, (_, at) => ({ name: `t${at}`, inputSchema: at }));
    await connection().channel.send(result(1, { tools: [...tools, { name: "t5", inputSchema: "new" }] }));
    expect([schemaOf("t9999"), schemaOf("t10000"), schemaOf("t5")]).toEqual([9999, undefined, "new"]);
  });
});
