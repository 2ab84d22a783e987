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
    await expect(request("prompts/list")).rejects.toMatchObject({ evidence: { rpc: { code: -32601 } } });
    expect(player.unmatched().map(({ method, target }) => `${method} ${target}`.trim())).toEqual([
      "tools/call say",
      "prompts/list",
    ]);
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
    await expect(cut.callTool("slow")).rejects.toThrow("the recording ends before the answer to tools/call");
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
])("%s tells in which era the server answered", (_what, code, eras) => {
  const answer = code === 0 ? result(1, "x") : (["server", { id: 1, error: { code, message: "no" } }] as const);
  expect(served(recorded(call(1, "t", {}, modern), answer)).player.eras).toEqual(eras);
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
