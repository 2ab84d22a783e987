import { type JsonObject, WireError } from "@fairlead/wire";
import type { ServedClient } from "@fairlead/wire/serve";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { createPlayer, type PlayerOptions } from "../../src/recordings/player.ts";
import type { RecordedMessage } from "../../src/recordings/recording.ts";

/** A recording, written as the messages of both sides in order. */
function recorded(...lines: readonly (readonly ["client" | "server", JsonObject])[]): RecordedMessage[] {
  return lines.map(([from, message], at) => ({ c: "a", at: at * 10, from, message: { jsonrpc: "2.0", ...message } }));
}

const call = (id: number, name: string, args: JsonObject = {}, meta?: JsonObject) =>
  ["client", { id, method: "tools/call", params: { name, arguments: args, ...(meta && { _meta: meta }) } }] as const;
const result = (id: number, text: string) => ["server", { id, result: { text } }] as const;

/** A client that keeps what the server sends it, and answers with `answer`. */
function served(messages: readonly RecordedMessage[], options: Partial<PlayerOptions> = {}, answer?: JsonObject) {
  const sent: unknown[] = [];
  const client: ServedClient = {
    async notify(method, params, about) {
      sent.push({ method, params, about });
    },
    async request(method, params, given) {
      sent.push({ ask: method, params, about: given?.about });
      return answer ?? {};
    },
    drained: () => undefined,
    closed: new Promise(() => {}),
    async close() {},
  };
  const player = createPlayer(
    { header: { v: 1, kind: "fairlead.recording", server: "s", recordedAt: "" }, messages },
    { clock: systemClock, createError: (...error) => new WireError(...error), ...options },
  );
  const session = player.session(client);
  const { signal } = new AbortController();
  const request = (method: string, params: JsonObject = {}, id = 7) => session.request(method, params, { id, signal });
  return {
    player,
    session,
    sent,
    request,
    callTool: (name: string, args = {}) => request("tools/call", { name, arguments: args }),
  };
}

describe("answers", () => {
  const twice = recorded(
    call(1, "count"),
    result(1, "one"),
    call(2, "count"),
    result(2, "two"),
    call(3, "say", { word: "hi" }),
    result(3, "hi"),
  );

  test("come by method and arguments, in order for repeated ones, then the last one again", async () => {
    const { callTool } = served(twice);
    expect(await callTool("count")).toEqual({ text: "one" });
    expect(await callTool("say", { word: "hi" })).toEqual({ text: "hi" });
    expect(await callTool("count")).toEqual({ text: "two" });
    expect(await callTool("count")).toEqual({ text: "two" });
  });

  test("ignore _meta and the order of members", async () => {
    const { request } = served(recorded(call(1, "say", { a: 1, b: 2 }, { progressToken: 1 }), result(1, "ok")));
    const params = { arguments: { b: 2, a: 1 }, name: "say", _meta: { progressToken: "x" } };
    expect(await request("tools/call", params)).toEqual({ text: "ok" });
  });

  test("are an error that names what was recorded instead, and the request is reported", async () => {
    const { callTool, request, player } = served(twice);
    await expect(callTool("say", { word: "no" })).rejects.toMatchObject({
      message: 'tools/call of say with {"word":"no"} was never recorded; recorded: {"word":"hi"}',
      evidence: { rpc: { code: -32602, data: { reason: "not_recorded" } } },
    });
    await expect(request("prompts/list", { _meta: { progressToken: 1 } })).rejects.toMatchObject({
      message: "prompts/list was never recorded",
      evidence: { rpc: { code: -32601, data: { reason: "not_recorded" } } },
    });
    await expect(callTool("say", { word: "no" })).rejects.toThrow("never recorded");
    expect(player.unmatched()).toEqual([
      { method: "tools/call", target: "say", params: { name: "say", arguments: { word: "no" } } },
      { method: "prompts/list", target: "", params: {} },
    ]);
  });

  test("that are missing name up to three others: of the same target, or else the recorded targets", async () => {
    const { callTool, request } = served(
      recorded(
        ...["a", "b", "a", "c", "d"].map((name, id) => call(id, name)),
        ...[1, 1, 2, 3, 4].map((x, at) => call(10 + at, "x", { x })),
        ["client", { id: 20, method: "resources/read", params: { uri: "r", more: 1 } }],
        ["client", { id: 21, method: "tools/list", params: { cursor: "1" } }],
        call(22, "long", { text: "y".repeat(300) }),
      ),
    );
    const message = async (answer: Promise<unknown>): Promise<string> => {
      const error = await answer.catch((caught: unknown) => caught);
      return error instanceof Error ? error.message : "(answered)";
    };
    expect(await message(callTool("e", { x: 1 }))).toBe(
      'tools/call of e with {"x":1} was never recorded; recorded: a; b; c',
    );
    expect(await message(callTool("x", { x: 5 }))).toBe(
      'tools/call of x with {"x":5} was never recorded; recorded: {"x":1}; {"x":2}; {"x":3}',
    );
    expect(await message(request("resources/read", { uri: "s" }))).toBe(
      'resources/read of s with {"uri":"s"} was never recorded; recorded: r',
    );
    expect(await message(request("tools/list", { _meta: {} }))).toBe(
      'tools/list with {} was never recorded; recorded: {"cursor":"1"}',
    );
    expect(await message(callTool("long"))).toBe(
      `tools/call of long with {} was never recorded; recorded: {"text":"${"y".repeat(190)}…`,
    );
  });

  test("begin anew for each legacy client; modern clients share one sequence", async () => {
    const { player, session } = served(twice);
    const { signal } = new AbortController();
    const count = (one: typeof session) =>
      one.request("tools/call", { name: "count", arguments: {} }, { id: 1, signal });
    const client = { closed: new Promise<never>(() => {}) } as unknown as ServedClient;
    const answers = async (...eras: ("modern" | undefined)[]) => {
      const texts: unknown[] = [];
      for (const era of eras) texts.push((await count(player.session(client, era)))["text"]);
      return texts;
    };
    expect(await answers(undefined, undefined)).toEqual(["one", "one"]);
    expect(await answers("modern", "modern")).toEqual(["one", "two"]);
  });

  test("match by tool alone with loose", async () => {
    const { callTool } = served(twice, { loose: true });
    expect(await callTool("say", { word: "other" })).toEqual({ text: "hi" });
    await expect(callTool("unknown")).rejects.toThrow("never recorded");
  });

  test("match any text where the recording hides one", async () => {
    const { callTool } = served(recorded(call(1, "log", { key: "(hidden)", text: "for (hidden)!" }), result(1, "ok")));
    expect(await callTool("log", { key: "s3cret", text: "for Ada!" })).toEqual({ text: "ok" });
    await expect(callTool("log", { key: "s3cret", text: "of Ada!" })).rejects.toThrow("never recorded");
  });

  test("are the recorded errors, with code and data", async () => {
    const error = { code: -32002, message: "gone", data: { uri: "a" } };
    const { request } = served(
      recorded(["client", { id: 1, method: "resources/read", params: { uri: "a" } }], ["server", { id: 1, error }]),
    );
    await expect(request("resources/read", { uri: "a" })).rejects.toMatchObject({
      message: "gone",
      evidence: { rpc: { code: -32002, data: { uri: "a" } } },
    });
  });

  test("are errors with an internal code and no text if the recorded error has neither", async () => {
    const { callTool } = served(recorded(call(1, "a"), ["server", { id: 1, error: { code: "x" } }]));
    const error: unknown = await callTool("a").catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "rpc", message: "" });
    expect(error instanceof WireError && error.evidence.rpc).toEqual({ code: -32603 });
  });
});

describe("what a server sends beside an answer", () => {
  test("progress goes to the live token, and only if the client gave one", async () => {
    const messages = recorded(
      call(1, "run", {}, { progressToken: 5 }),
      ["server", { method: "notifications/progress", params: { progressToken: 5, progress: 1 } }],
      result(1, "done"),
    );
    const { request, sent } = served(messages);
    await request("tools/call", { name: "run", _meta: { progressToken: "mine" } });
    await request("tools/call", { name: "run" });
    expect(sent).toEqual([
      { method: "notifications/progress", params: { progressToken: "mine", progress: 1 }, about: 7 },
    ]);
  });

  test("a question is asked again if the client declared that it can be asked", async () => {
    const messages = recorded(
      ["client", { id: 0, method: "initialize", params: {} }],
      ["server", { id: 0, result: { protocolVersion: "2025-11-25" } }],
      call(1, "ask"),
      ["server", { id: 9, method: "elicitation/create", params: { message: "Who?" } }],
      ["client", { id: 9, result: { action: "accept" } }],
      result(1, "thanks"),
    );
    const able = served(messages);
    await able.request("initialize", { capabilities: { elicitation: {} } });
    expect(await able.callTool("ask")).toEqual({ text: "thanks" });
    expect(able.sent).toEqual([{ ask: "elicitation/create", params: { message: "Who?" }, about: 7 }]);
    const unable = served(messages);
    await unable.request("initialize", { capabilities: {} });
    expect(await unable.callTool("ask")).toEqual({ text: "thanks" });
    expect(unable.sent).toEqual([]);
    expect(able.player.eras).toEqual(["legacy"]);
  });

  test("a list_changed after an answer is sent after it, to the open subscription", async () => {
    const meta = (id: number) => ({ _meta: { "io.modelcontextprotocol/subscriptionId": id } });
    const messages = recorded(
      ["client", { id: 4, method: "subscriptions/listen", params: { toolsListChanged: true } }],
      ["server", { method: "notifications/subscriptions/acknowledged", params: meta(4) }],
      call(5, "add"),
      result(5, "added"),
      ["server", { method: "notifications/tools/list_changed", params: meta(4) }],
    );
    const { session, sent, request } = served(messages);
    const listening = new AbortController();
    const listen = session.request(
      "subscriptions/listen",
      { toolsListChanged: true },
      { id: 30, signal: listening.signal },
    );
    await request("tools/call", { name: "add" });
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(sent).toMatchObject([
      { method: "notifications/subscriptions/acknowledged", params: meta(30) },
      { method: "notifications/tools/list_changed", params: meta(30), about: 30 },
    ]);
    listening.abort();
    await expect(listen).rejects.toThrow();
  });

  test("a request that was never answered is an error, unless the client cancelled it", async () => {
    const cut = served(recorded(call(1, "slow")));
    await expect(cut.callTool("slow")).rejects.toMatchObject({
      message: "the recording ends before the answer to tools/call",
      evidence: { rpc: { code: -32603, data: { reason: "not_recorded" } } },
    });
    const cancelled = served(
      recorded(call(1, "slow"), ["client", { method: "notifications/cancelled", params: { requestId: 1 } }]),
    );
    const params = { name: "slow", arguments: {} };
    const controller = new AbortController();
    const waiting = cancelled.session.request("tools/call", params, { id: 1, signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(
      cancelled.session.request("tools/call", params, { id: 2, signal: AbortSignal.abort(new Error("before")) }),
    ).rejects.toThrow("before");
  });

  test("a message without a subscription goes to the client: during a request about it, later about nothing", async () => {
    const note = (data: string) => ({ method: "notifications/message", params: { data } });
    const { callTool, sent } = served(
      recorded(call(1, "a"), ["server", note("during")], result(1, "ok"), ["server", note("after")]),
    );
    await callTool("a");
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(sent).toEqual([
      { ...note("during"), about: 7 },
      { ...note("after"), about: undefined },
    ]);
  });

  test("a client's notification gets the recorded replies; a ping needs no capability", async () => {
    const { session, sent } = served(
      recorded(
        ["client", { method: "notifications/initialized" }],
        ["server", { id: 1, method: "ping", params: {} }],
        ["client", { id: 1, result: {} }],
        ["server", { id: 2, method: "roots/list", params: {} }],
        ["server", { method: "notifications/message", params: {} }],
      ),
    );
    session.notification?.("notifications/initialized", {});
    session.notification?.("notifications/other", {});
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toEqual([
      { ask: "ping", params: {}, about: undefined },
      { method: "notifications/message", params: {}, about: undefined },
    ]);
  });
});

test("messages wait as long as they did, or as long as the caller says", async () => {
  const waits: number[] = [];
  const clock = {
    now: () => 0,
    after(milliseconds: number, action: () => void) {
      waits.push(milliseconds);
      queueMicrotask(action);
      return () => {};
    },
  };
  const messages = recorded(call(1, "a"), result(1, "ok"));
  await served(messages, { clock, timing: "recorded" }).callTool("a");
  await served(messages, { clock, timing: 250 }).callTool("a");
  await served(messages, { clock }).callTool("a");
  expect(waits).toEqual([10, 250]);
});

const modern = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };

test.each([
  ["a result", 0, ["modern"]],
  ["an error about the request", -32_002, ["modern"]],
  ["an error about the version", -32_022, []],
  ["an error about the method", -32_601, []],
])("%s tells in which era the server answered", (_what, code, eras) => {
  const answer = code === 0 ? result(1, "x") : (["server", { id: 1, error: { code, message: "no" } }] as const);
  expect(served(recorded(call(1, "t", {}, modern), answer)).player.eras).toEqual(eras);
});

test("a failed handshake does not tell that the server speaks its era; a request without a version is not modern", () => {
  const failed = ["server", { id: 1, error: { code: -32_002, message: "no" } }] as const;
  const eras = (method: string, params: JsonObject, answer: typeof failed | ReturnType<typeof result>) =>
    served(recorded(["client", { id: 1, method, params }], answer)).player.eras;
  expect(eras("initialize", {}, failed)).toEqual([]);
  expect(eras("initialize", {}, result(1, "x"))).toEqual(["legacy"]);
  expect(eras("server/discover", { _meta: modern }, failed)).toEqual([]);
  expect(eras("server/discover", { _meta: modern }, result(1, "x"))).toEqual(["modern"]);
  expect(eras("tools/list", {}, result(1, "x"))).toEqual([]);
});

test("an answer to wrong headers is not played: who listens compares them with the recorded schemas", async () => {
  const inputSchema = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
  const { player, callTool } = served(
    recorded(
      ["client", { id: 1, method: "tools/list", params: {} }],
      ["server", { id: 1, result: { tools: [{ name: "find", inputSchema }] } }],
      call(2, "find", { region: "north" }),
      ["server", { id: 2, error: { code: -32_020, message: "the header mcp-param-region does not match the body" } }],
      call(3, "find", { region: "north" }),
      result(3, "found"),
    ),
  );
  expect(await callTool("find", { region: "north" })).toEqual({ text: "found" });
  expect(player.schemaOf("find")).toEqual(inputSchema);
  expect(player.schemaOf("other")).toBeUndefined();
});
