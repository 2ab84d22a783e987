import { getEventListeners } from "node:events";
import type { JsonObject } from "@fairlead/wire";
import type { ChannelEvents } from "@fairlead/wire/serve";
import { expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import type { RelayContext } from "../../src/request/relay.ts";
import { relayClient } from "../../src/request/relay.ts";

const key = "io.modelcontextprotocol/subscriptionId";
const request = (id: number, method: string, params: JsonObject = {}): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

type Asked = Parameters<RelayContext["run"]>[0];
type Run = (asked: Asked) => unknown;

function send({ target }: Asked, signal: AbortSignal): Promise<JsonObject> {
  return target.kind === "direct" ? target.send(signal) : Promise.reject(new Error("a relay has a channel of its own"));
}

/** A client and a server that the test plays, with a relay between them. Completions of names with "denied" are denied. */
async function relayed(refuse: Run = () => undefined, hasRoots = false) {
  const closing = new AbortController();
  const requests: JsonObject[] = [];
  const toServer: unknown[] = [];
  const toClient: unknown[] = [];
  const closed: string[] = [];
  const outcomes: unknown[] = [];
  let endServer: (error: HostError | undefined) => void = () => {};
  let receive: (message: JsonObject) => void = () => {};
  let client: ChannelEvents | undefined;
  let isSendable = true;
  const run: RelayContext["run"] = async (asked) => {
    const { who, serverName, serverToolName, kind, args, shown, target } = asked;
    requests.push({ who, serverName, serverToolName, kind, args, shown });
    await refuse(asked);
    const result = await send(asked, asked.signal ?? closing.signal);
    outcomes.push(target.kind === "direct" && target.isError?.(result) === true ? "tool_error" : "ok");
    return result;
  };
  let hasOpened: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    hasOpened = resolve;
  });
  const done = relayClient(
    "s",
    async (events) => {
      client = events;
      hasOpened();
      return {
        cancelBy: "message",
        async send(message, options) {
          if (!isSendable) throw new Error("the client has disconnected");
          toClient.push([message, options?.about]);
        },
        setProtocolVersion() {},
        close: async () => void closed.push("client"),
      };
    },
    {
      relay: async ({ onReceived }) => {
        receive = onReceived;
        const end = new Promise<HostError | undefined>((resolve) => {
          endServer = resolve;
        });
        return {
          send: (message, headers) => void toServer.push([message, headers]),
          closed: end,
          close: async () => void closed.push("server"),
        };
      },
      run,
      async ask({ who, serverName, serverToolName, kind }) {
        requests.push({ who, serverName, serverToolName, kind });
        if (serverToolName.startsWith("denied")) throw new HostError("denied", `${serverToolName} denied`);
      },
      signal: closing.signal,
      mayHaveRoots: () => hasRoots,
    },
  );
  await opened;
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    done,
    requests,
    toServer,
    toClient,
    closed,
    outcomes,
    closing,
    async send(message: JsonObject, headers?: Record<string, string>) {
      client?.message(message, 1, undefined, headers);
      await settled();
    },
    async answer(message: JsonObject) {
      receive(message);
      await settled();
    },
    async leave() {
      client?.closed(undefined);
      await done;
    },
    breakClient() {
      isSendable = false;
    },
    endServer: (error?: HostError) => endServer(error),
    events: () => client,
  };
}

test("the relay passes a message that no rule concerns to the server, with its headers, and the answer back", async () => {
  const at = await relayed();
  await at.send(request(1, "tools/list"), { "Mcp-Param-A": "b" });
  await at.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  expect(at.toServer).toEqual([
    [request(1, "tools/list"), { "Mcp-Param-A": "b" }],
    [{ jsonrpc: "2.0", method: "notifications/initialized" }, undefined],
  ]);
  await at.answer({ jsonrpc: "2.0", id: 1, result: { tools: [] } });
  expect(at.toClient).toEqual([[{ jsonrpc: "2.0", id: 1, result: { tools: [] } }, undefined]]);
  expect(at.requests).toEqual([]);
  await at.leave();
  expect(at.closed).toEqual(["server", "client"]);
});

test.each([
  ["tools/call", { name: "t", arguments: { a: 1 } }, "tool", "t", { a: 1 }],
  ["tools/call", { name: 7 }, "tool", "", {}],
  ["prompts/get", { name: "p" }, "prompt", "p", {}],
  ["resources/read", { uri: "x://1" }, "resource", "x://1", {}],
  ["resources/subscribe", { uri: "x://2" }, "resource", "x://2", {}],
])(
  "the rules decide about %s %j, and then the server gets it unchanged",
  async (method, params, kind, serverToolName, args) => {
    const at = await relayed();
    await at.send(request(5, method, params), { h: "1" });
    const subject = { serverName: "s", serverToolName, kind, args };
    expect(at.requests).toEqual([
      { who: "user", ...subject, shown: { ...subject, name: serverToolName, description: "" } },
    ]);
    expect(at.toServer).toEqual([[request(5, method, params), { h: "1" }]]);
    const answer = { jsonrpc: "2.0", id: 5, result: { content: [] } };
    await at.answer(answer);
    expect(at.toClient).toEqual([[answer, undefined]]);
    await at.leave();
  },
);

test.each([
  [{ type: "ref/prompt", name: "p" }, "prompt", "p"],
  [{ type: "ref/resource", uri: "x://{a}" }, "resource", "x://{a}"],
])("a completion of %j passes if the rules do not deny it", async (ref, kind, serverToolName) => {
  const at = await relayed();
  const completion = request(4, "completion/complete", { ref, argument: { name: "a", value: "" } });
  await at.send(completion, { h: "1" });
  expect(at.requests).toEqual([{ who: "user", serverName: "s", serverToolName, kind }]);
  expect(at.toServer).toEqual([[completion, { h: "1" }]]);
  const answer = { jsonrpc: "2.0", id: 4, result: { completion: { values: [] } } };
  await at.answer(answer);
  expect(at.toClient).toEqual([[answer, undefined]]);
  await at.leave();
});

test.each([
  [{ type: "ref/prompt", name: "denied" }, "denied"],
  [{ type: "ref/resource", uri: "denied://{a}" }, "denied"],
  [{ type: "ref/Prompt", name: "denied" }, "usage"],
  [{ type: "ref/prompt", uri: "denied://1" }, "usage"],
  ["denied", "usage"],
])("a completion of %j is refused, and the server does not get it", async (ref, code) => {
  const at = await relayed();
  await at.send(request(4, "completion/complete", { ref, argument: { name: "a", value: "" } }));
  expect(at.toClient).toMatchObject([[{ id: 4, error: { code: -32000, data: { code } } }, undefined]]);
  expect(at.toServer).toEqual([]);
  await at.leave();
});

test("a subscription to resources reaches the server without those that the rules refuse", async () => {
  const at = await relayed(({ serverToolName }) => {
    if (serverToolName.startsWith("denied")) throw new HostError("denied", "no");
  });
  const listen = (id: number, resourceSubscriptions?: unknown): JsonObject =>
    request(id, "subscriptions/listen", {
      notifications: { toolsListChanged: true, ...(resourceSubscriptions !== undefined && { resourceSubscriptions }) },
    });
  await at.send(listen(1, ["a://1", "denied://1", 7, "a://2"]), { h: "1" });
  await at.send(listen(2, ["denied://1"]));
  await at.send(listen(3, "denied://1"));
  await at.send(listen(4));
  expect(at.toServer).toEqual([
    [listen(1, ["a://1", "a://2"]), { h: "1" }],
    [listen(2, []), undefined],
    [listen(3, []), undefined],
    [listen(4), undefined],
  ]);
  expect(at.requests.map(({ kind, serverToolName }) => [kind, serverToolName])).toEqual([
    ["resource", "a://1"],
    ["resource", "denied://1"],
    ["resource", "a://2"],
    ["resource", "denied://1"],
  ]);
  await at.leave();
});

test("a subscription that is cancelled while the rules decide about it is not sent", async () => {
  let decide: () => void = () => {};
  const at = await relayed(
    () =>
      new Promise<void>((resolve) => {
        decide = resolve;
      }),
  );
  await at.send(request(1, "subscriptions/listen", { notifications: { resourceSubscriptions: ["a://1"] } }));
  await at.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  decide();
  await new Promise((resolve) => setImmediate(resolve));
  expect(JSON.stringify(at.toServer)).not.toContain("subscriptions/listen");
  await at.leave();
});

test("a notification with the name of a request that the rules decide about is not passed on", async () => {
  const at = await relayed();
  await at.send({ jsonrpc: "2.0", method: "tools/call", params: { name: "t" } });
  expect([at.requests, at.toServer.length]).toEqual([[], 0]);
  await at.leave();
});

test("a request that is cancelled while the rules decide about it is not sent", async () => {
  let decide: () => void = () => {};
  const at = await relayed(
    () =>
      new Promise<void>((resolve) => {
        decide = resolve;
      }),
  );
  await at.send(request(1, "tools/call", { name: "t" }));
  await at.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  decide();
  await new Promise((resolve) => setImmediate(resolve));
  expect(JSON.stringify(at.toServer)).not.toContain("tools/call");
  await at.leave();
});

test("history records an error of the tool for an error reply and for a result with isError", async () => {
  const at = await relayed();
  const replies = [
    { error: { code: 1, message: "no" } },
    { result: { isError: true } },
    { result: { isError: "yes" } },
    { result: {} },
    {},
  ];
  for (const [id, reply] of replies.entries()) {
    await at.send(request(id, "tools/call", { name: "t" }));
    await at.answer({ jsonrpc: "2.0", id, ...reply });
  }
  expect(at.outcomes).toEqual(["tool_error", "tool_error", "ok", "ok", "ok"]);
  await at.leave();
});

test.each([
  [
    new HostError("denied", "no", { next: "ask" }),
    { code: -32000, message: "no", data: { code: "denied", next: "ask" } },
  ],
  [new HostError("busy", "later"), { code: -32000, message: "later", data: { code: "busy" } }],
])("the client gets the refusal %s as an error reply", async (refusal, error) => {
  const at = await relayed(() => Promise.reject(refusal));
  await at.send(request(3, "tools/call", { name: "t" }));
  expect(at.toClient).toEqual([[{ jsonrpc: "2.0", id: 3, error }, undefined]]);
  expect(at.toServer).toEqual([]);
  await at.leave();
});

test.each([new HostError("cancelled", "stop"), new Error("other")])(
  "the client gets no reply after %s",
  async (error) => {
    const at = await relayed(() => Promise.reject(error));
    await at.send(request(3, "tools/call", { name: "t" }));
    expect([at.toClient, at.toServer]).toEqual([[], []]);
    await at.leave();
  },
);

test("a server's message belongs to the request of its subscription, its progress token, or the latest request", async () => {
  const at = await relayed();
  await at.send(request(1, "subscriptions/listen", { _meta: { progressToken: "a" } }));
  await at.send(request(2, "tools/list", { _meta: { progressToken: "b" } }));
  await at.send(request(3, "ping"));
  const about = async (params?: JsonObject): Promise<unknown> => {
    at.toClient.length = 0;
    await at.answer({ jsonrpc: "2.0", method: "notifications/x", ...(params && { params }) });
    return at.toClient.map((each) => (each as readonly unknown[])[1]);
  };
  expect(await about({ _meta: { [key]: 1 }, progressToken: "b" })).toEqual([1]);
  expect(await about({ _meta: { [key]: 9 }, progressToken: "b" })).toEqual([2]);
  expect(await about({ progressToken: "a" })).toEqual([1]);
  expect(await about({ progressToken: "unknown" })).toEqual([3]);
  expect(await about()).toEqual([3]);
  await at.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3 } });
  expect(await about()).toEqual([2]);
  await at.answer({ jsonrpc: "2.0", id: 2, result: {} });
  expect(await about()).toEqual([1]);
  await at.answer({ jsonrpc: "2.0", id: 1, result: {} });
  expect(await about()).toEqual([undefined]);
  await at.leave();
});

test("the client cancels a call: the server gets the notification, and its late answer is passed on as it is", async () => {
  const at = await relayed();
  await at.send(request(1, "tools/call", { name: "t" }));
  const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
  await at.send(cancelled);
  expect(at.toServer).toEqual([
    [request(1, "tools/call", { name: "t" }), undefined],
    [cancelled, undefined],
  ]);
  expect([at.toClient, at.outcomes]).toEqual([[], []]);
  await at.answer({ jsonrpc: "2.0", id: 1, result: {} });
  expect(at.toClient).toEqual([[{ jsonrpc: "2.0", id: 1, result: {} }, undefined]]);
  expect(at.outcomes).toEqual([]);
  await at.leave();
});

test("a client that leaves cancels its open calls", async () => {
  const ends: unknown[] = [];
  const at = await relayed((asked) =>
    send(asked, asked.signal ?? new AbortController().signal).catch((error: unknown) => {
      ends.push(error);
      throw error;
    }),
  );
  await at.send(request(1, "tools/call", { name: "t" }));
  await at.leave();
  expect(ends).toEqual([
    expect.objectContaining({ code: "cancelled", message: "the client cancelled the request", serverName: "s" }),
  ]);
});

test("the relay ends with the host, with a client that cannot be reached, and with the server's error", async () => {
  const stopped = await relayed();
  stopped.closing.abort();
  await stopped.done;
  expect(stopped.closed).toEqual(["server", "client"]);
  const broken = await relayed();
  broken.breakClient();
  await broken.answer({ jsonrpc: "2.0", id: 1, result: {} });
  await broken.done;
  expect(broken.closed).toEqual(["server", "client"]);
  const ended = await relayed();
  const error = new HostError("server_exited", "gone");
  ended.endServer(error);
  await expect(ended.done).rejects.toBe(error);
  expect(ended.closed).toEqual(["server", "client"]);
  const finished = await relayed();
  finished.endServer();
  await finished.done;
  expect(finished.closed).toEqual(["server", "client"]);
});

test("messages of the client may be as large as 64 MB", async () => {
  const at = await relayed();
  expect(at.events()?.largest()).toBe(67_108_864);
  await at.leave();
});

test("a client of a server that cannot be reached is disconnected", async () => {
  const error = new HostError("unreachable", "no");
  const seen: unknown[] = [];
  const { signal } = new AbortController();
  const failed = relayClient(
    "s",
    async (events) => {
      seen.push(events.largest());
      return {
        cancelBy: "message",
        send: async () => {},
        setProtocolVersion() {},
        close: async () => void seen.push("closed"),
      };
    },
    {
      relay: () => Promise.reject(error),
      run: () => Promise.reject(error),
      ask: () => Promise.reject(error),
      signal,
      mayHaveRoots: () => false,
    },
  );
  await expect(failed).rejects.toBe(error);
  expect(seen).toEqual([67_108_864, "closed"]);
});

test("a call that the host aborts ends without a reply, and leaves no listener behind", async () => {
  const stop = new AbortController();
  const ends: unknown[] = [];
  const at = await relayed((asked) =>
    send(asked, stop.signal).catch((error: unknown) => {
      ends.push(error);
      throw error;
    }),
  );
  await at.send(request(1, "tools/call", { name: "t" }));
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
  stop.abort();
  await at.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  expect(ends).toEqual([expect.objectContaining({ code: "cancelled", message: "the client cancelled the request" })]);
  expect(at.toClient).toEqual([]);
  const before = getEventListeners(at.closing.signal, "abort").length;
  await at.leave();
  expect([before, getEventListeners(at.closing.signal, "abort")]).toEqual([1, []]);
});

test("a call that the server answers leaves no listener at its signal", async () => {
  const stop = new AbortController();
  const at = await relayed((asked) => send(asked, stop.signal));
  await at.send(request(1, "tools/call", { name: "t" }));
  await at.answer({ jsonrpc: "2.0", id: 1, result: {} });
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  await at.leave();
});

const roots = { jsonrpc: "2.0", id: "r", method: "roots/list", params: {} };
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

test("the relay keeps the client's folders from a server that may not have roots", async () => {
  const at = await relayed();
  await at.send(request(1, "initialize", { capabilities: { roots: { listChanged: true }, sampling: {} } }));
  const _meta = { [capabilitiesKey]: { roots: {}, elicitation: {} }, other: 1 };
  await at.send(request(2, "tools/list", { _meta }));
  await at.send({ jsonrpc: "2.0", method: "notifications/roots/list_changed" });
  await at.answer(roots);
  const inputRequests = { a: { method: "elicitation/create" }, b: { method: "roots/list" } };
  await at.answer({ jsonrpc: "2.0", id: 2, result: { resultType: "input_required", inputRequests } });
  expect(at.toServer.map((sent) => (sent as unknown[])[0])).toEqual([
    request(1, "initialize", { capabilities: { sampling: {} } }),
    request(2, "tools/list", { _meta: { [capabilitiesKey]: { elicitation: {} }, other: 1 } }),
    { jsonrpc: "2.0", id: "r", error: { code: -32000, message: expect.stringContaining("roots/list refused") } },
  ]);
  expect(at.toClient).toEqual([
    [
      { jsonrpc: "2.0", id: 2, error: { code: -32000, message: expect.stringContaining("roots/list refused") } },
      undefined,
    ],
  ]);
  await at.leave();
});

test("the relay passes on the roots of a server that may have them", async () => {
  const at = await relayed(undefined, true);
  const hello = request(1, "initialize", { capabilities: { roots: {} } });
  await at.send(hello);
  await at.answer(roots);
  expect(at.toServer).toEqual([[hello, undefined]]);
  expect(at.toClient).toEqual([[roots, 1]]);
  await at.leave();
});
