import { describe, expect, test } from "vitest";
import type { JsonObject, McpRequestOptions, RequestHandler } from "../../src/session.ts";
import { turn } from "../support/collected.ts";
import { failure, type MemoryServer, memoryServer, type OpenedRpc, rpcTo } from "../support/memory-server.ts";
import { stoppedTime } from "../support/simulated-time.ts";

const question = (id: unknown): JsonObject => ({ jsonrpc: "2.0", id, method: "elicitation/create", params: {} });
const log = (data: string): JsonObject => ({ jsonrpc: "2.0", method: "notifications/message", params: { data } });

/** A handler that says who answered, and whether the question was ambiguous. */
const answeredBy =
  (name: string): RequestHandler =>
  async (_method, _params, _signal, origin) => ({ name, isAmbiguous: origin?.isAmbiguous });

/** Sends a call that stays open until the connection is closed. */
function call(rpc: OpenedRpc, options: McpRequestOptions, token = true): void {
  rpc.request("tools/call", { name: "x" }, { ...options, token }).catch(() => undefined);
}

function replies(server: MemoryServer): unknown[] {
  return server.sent.filter(({ method }) => method === undefined).map(({ result, error }) => result ?? error);
}

describe("a question on the only stream of a server", () => {
  const session = { name: "session", isAmbiguous: false };
  const first = { owner: "a", answer: answeredBy("first") };
  const second = { owner: "a", answer: answeredBy("second") };
  const other = { owner: "b", answer: answeredBy("other") };
  const unable = { owner: "b", answer: answeredBy("unable"), capabilities: { sampling: {} } };

  test.each<[string, readonly McpRequestOptions[], unknown]>([
    ["is the session's without an open request", [], session],
    ["is the session's if the open request does not answer", [{}], session],
    ["goes to the only open request", [first], { name: "first", isAmbiguous: false }],
    ["goes to the newest request of one owner", [first, second], { name: "second", isAmbiguous: false }],
    ["of several owners is the session's, and ambiguous", [first, other, second], { ...session, isAmbiguous: true }],
    ["goes to the only owner that can answer it", [first, unable], { name: "first", isAmbiguous: false }],
    ["that no owner can answer is ambiguous", [unable, { ...unable, owner: "c" }], { ...session, isAmbiguous: true }],
    ["goes to the only owner, although it cannot answer", [unable], { name: "unable", isAmbiguous: false }],
    ["of an owner and of the host itself is ambiguous too", [first, {}], { ...session, isAmbiguous: true }],
  ])("%s", async (_what, open, expected) => {
    const server = memoryServer();
    await using rpc = await rpcTo(server, { onRequest: answeredBy("session") });
    for (const options of open) call(rpc, options);
    server.say(question(1));
    await turn();
    expect(replies(server)).toEqual([expected]);
  });

  test("is not about a ping, nor about a request that is not sent yet", async () => {
    const server = memoryServer();
    await using rpc = await rpcTo(server, { onRequest: answeredBy("session") });
    call(rpc, {}, false);
    call(rpc, first);
    call(rpc, { ...other, beforeSend: () => new Promise(() => {}) });
    server.say(question(1));
    await turn();
    expect(replies(server)).toEqual([{ name: "first", isAmbiguous: false }]);
  });

  test("is not about a request whose last question is still open, unless the server asks several at once", async () => {
    const server = memoryServer();
    const time = stoppedTime();
    await using rpc = await rpcTo(server, { time });
    const asked: string[] = [];
    const answer =
      (name: string): RequestHandler =>
      () => {
        asked.push(name);
        return new Promise(() => {});
      };
    call(rpc, { owner: "a", answer: answer("first"), timeout: Number.POSITIVE_INFINITY });
    call(rpc, { owner: "a", answer: answer("second"), timeout: Number.POSITIVE_INFINITY });
    server.say(question(1));
    server.say(question(2));
    time.advance(50);
    server.say(question(3));
    time.advance(50);
    server.say(question(4));
    await turn();
    expect(asked).toEqual(["second", "second", "first", "second"]);
  });

  test("stays open until the last request that it may be about has ended", async () => {
    const server = memoryServer();
    await using rpc = await rpcTo(server);
    const ended: string[] = [];
    const answer: RequestHandler = (_method, _params, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          ended.push("question");
          reject(new Error("over"));
        });
      });
    const calls = ["first", "second"].map((name) =>
      rpc.request("tools/call", { name }, { owner: "a", answer }).then(() => ended.push(name)),
    );
    const [one, two] = server.sent.map(({ id }) => id);
    server.say(question(1));
    server.say({ jsonrpc: "2.0", id: two, result: {} });
    await calls[1];
    expect(ended).toEqual(["second"]);
    server.say({ jsonrpc: "2.0", id: one, result: {} });
    await calls[0];
    expect(ended).toEqual(["second", "question", "first"]);
  });

  test("pauses the timeouts of all requests that it may be about", async () => {
    const server = memoryServer();
    const time = stoppedTime();
    await using rpc = await rpcTo(server, { time });
    let reply = (_result: JsonObject): void => {};
    const answer: RequestHandler = () =>
      new Promise((resolve) => {
        reply = resolve;
      });
    const outcomes = ["first", "second"].map((name) =>
      failure(rpc.request("tools/call", { name }, { owner: "a", answer, timeout: 1000 })),
    );
    server.say(question(1));
    await turn();
    time.advance(5000);
    reply({ action: "accept" });
    await turn();
    const early = await Promise.race([...outcomes, Promise.resolve("open")]);
    expect(early).toBe("open");
    time.advance(1000);
    expect((await Promise.all(outcomes)).map((error) => error)).toMatchObject([
      { code: "timeout" },
      { code: "timeout" },
    ]);
  });

  test("is about the request whose last question was answered, although another was sent later", async () => {
    const server = memoryServer();
    const time = stoppedTime();
    await using rpc = await rpcTo(server, { time });
    const open: { readonly name: string; readonly reply: (result: JsonObject) => void }[] = [];
    const answer =
      (name: string): RequestHandler =>
      () =>
        new Promise((reply) => open.push({ name, reply }));
    call(rpc, { owner: "a", answer: answer("first"), timeout: Number.POSITIVE_INFINITY });
    server.say(question(1));
    time.advance(1);
    call(rpc, { owner: "a", answer: answer("second"), timeout: Number.POSITIVE_INFINITY });
    server.say(question(2));
    time.advance(1);
    open[0]?.reply({});
    await turn();
    server.say(question(3));
    await turn();
    expect(open.map(({ name }) => name)).toEqual(["first", "second", "first"]);
  });

  test("is ambiguous after another owner's request was cancelled, and from ten seconds later on doubtful until the server answers that request", async () => {
    const server = memoryServer();
    const time = stoppedTime();
    await using rpc = await rpcTo(server, { time, onRequest: answeredBy("session") });
    const stop = new AbortController();
    const doubted: RequestHandler = async (_method, _params, _signal, origin) => ({ name: "first", ...origin });
    call(rpc, { ...other, signal: stop.signal, timeout: Number.POSITIVE_INFINITY });
    call(rpc, { ...first, answer: doubted, timeout: Number.POSITIVE_INFINITY });
    stop.abort();
    server.say(question(1));
    await turn();
    time.advance(10_000);
    server.say(question(2));
    await turn();
    server.say({ jsonrpc: "2.0", id: server.sent[0]?.["id"], result: {} });
    server.say(question(3));
    await turn();
    expect(replies(server)).toEqual([
      { name: "session", isAmbiguous: true },
      { name: "first", isAmbiguous: false, isDoubtful: true },
      { name: "first", isAmbiguous: false, isDoubtful: false },
    ]);
  });

  test("ends with its request", async () => {
    const server = memoryServer();
    const signals: AbortSignal[] = [];
    const answer: RequestHandler = (_method, _params, signal) =>
      new Promise((_, reject) => {
        signals.push(signal);
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    await using rpc = await rpcTo(server);
    const stop = new AbortController();
    const calling = failure(rpc.request("tools/call", {}, { owner: "a", answer, signal: stop.signal }));
    server.say(question(7));
    await turn();
    stop.abort();
    await calling;
    await turn();
    expect(signals[0]?.aborted).toBe(true);
    const message = "the client's request has ended, so the server's question needs no answer";
    expect(replies(server)).toEqual([{ code: -32603, message }]);
  });

  test("stops only the time of its own request", async () => {
    const server = memoryServer();
    const time = stoppedTime();
    await using rpc = await rpcTo(server, { time });
    let reply: (result: JsonObject) => void = () => {};
    const answer: RequestHandler = () =>
      new Promise((resolve) => {
        reply = resolve;
      });
    const asking = rpc.request("tools/call", {}, { owner: "a", answer, timeout: 1000 });
    const waiting = failure(rpc.request("tools/list", {}, { owner: "b", timeout: 1000 }));
    server.say(question(7));
    time.advance(1500);
    expect(await waiting).toMatchObject({ code: "timeout" });
    reply({});
    await turn();
    time.advance(500);
    server.result({ id: 1 }, { ok: true });
    expect(await asking).toEqual({ ok: true });
  });
});

test("a question on the stream of a request belongs to that request, whatever else is open", async () => {
  const server = memoryServer();
  await using rpc = await rpcTo(server, { onRequest: answeredBy("session") });
  for (const owner of ["a", "b", "c"]) call(rpc, { owner, answer: answeredBy(owner) });
  server.sayAbout(2, question(1));
  server.sayAbout(99, question(2));
  await turn();
  expect(replies(server)).toEqual([
    { name: "b", isAmbiguous: false },
    { name: "session", isAmbiguous: false },
  ]);
});

describe("a notification of a server", () => {
  async function heard(
    requests: readonly McpRequestOptions[],
    say: (server: MemoryServer) => void,
  ): Promise<{ own: string[][]; session: string[] }> {
    const server = memoryServer();
    const session: string[] = [];
    await using rpc = await rpcTo(server, { onNotification: (method) => void session.push(method) });
    const own = requests.map(() => [] as string[]);
    requests.forEach((options, at) => {
      call(rpc, { ...options, onNotification: (_method, { data, uri }) => void own[at]?.push(String(data ?? uri)) });
    });
    say(server);
    await turn();
    return { own, session };
  }

  test("that is a log message goes to the newest request of the only owner, and to the session", async () => {
    const owned = { owner: "a" };
    const { own, session } = await heard([owned, owned], (server) => server.say(log("one")));
    expect(own).toEqual([[], ["one"]]);
    expect(session).toEqual(["notifications/message"]);
  });

  test("goes to no request if several owners have one open", async () => {
    const { own } = await heard([{ owner: "a" }, { owner: "b" }], (server) => server.say(log("one")));
    expect(own).toEqual([[], []]);
  });

  test("on the stream of a request goes to that request", async () => {
    const { own } = await heard([{ owner: "a" }, { owner: "b" }], (server) => {
      server.sayAbout(1, log("one"));
      server.sayAbout(2, { ...log("two"), method: "notifications/elicitation/complete" });
    });
    expect(own).toEqual([["one"], ["two"]]);
  });

  test("of a subscription goes to the request that subscribed", async () => {
    const params = { uri: "a:b", _meta: { "io.modelcontextprotocol/subscriptionId": 2 } };
    const updated = { jsonrpc: "2.0", method: "notifications/resources/updated", params };
    const { own } = await heard([{ owner: "a" }, { owner: "b" }], (server) => server.say(updated));
    expect(own).toEqual([[], ["a:b"]]);
  });

  test("reaches the session also if the listener of the request fails", async () => {
    const server = memoryServer();
    const session: string[] = [];
    await using rpc = await rpcTo(server, { onNotification: (method) => void session.push(method) });
    call(rpc, {
      onNotification() {
        throw new Error("broken");
      },
    });
    server.say(log("one"));
    expect(session).toEqual(["notifications/message"]);
    expect(rpc.diagnostics).toEqual(["a listener failed on notifications/message: broken"]);
  });
});

describe("beforeSend", () => {
  test("is awaited before the request is sent, and nothing is sent if the request ends meanwhile", async () => {
    const server = memoryServer();
    await using rpc = await rpcTo(server);
    let go: () => void = () => {};
    const beforeSend = (): Promise<void> =>
      new Promise((resolve) => {
        go = resolve;
      });
    const sending = rpc.request("tools/call", { n: 1 }, { beforeSend });
    await turn();
    expect(server.sent).toEqual([]);
    go();
    server.result(await server.heard("tools/call"), { done: true });
    expect(await sending).toEqual({ done: true });

    const stop = new AbortController();
    const given = failure(rpc.request("tools/call", { n: 2 }, { beforeSend, signal: stop.signal }));
    stop.abort();
    expect(await given).toMatchObject({ code: "cancelled", evidence: { unsent: true } });
    go();
    await turn();
    expect(server.sent).toHaveLength(1);
  });

  test("that rejects fails the request as unsent", async () => {
    const server = memoryServer();
    await using rpc = await rpcTo(server);
    const beforeSend = (): Promise<void> => Promise.reject(new Error("the client has gone"));
    expect(await failure(rpc.request("tools/call", {}, { beforeSend }))).toMatchObject({
      message: "the client has gone",
      evidence: { unsent: true, step: "tools/call" },
    });
    expect(server.sent).toEqual([]);
  });
});

test("the members of another client's _meta go on, without those of the connection", async () => {
  const server = memoryServer();
  await using rpc = await rpcTo(server);
  const meta = { traceparent: "00-1", progressToken: "theirs", "io.modelcontextprotocol/clientInfo": {}, "a.b/c": 1 };
  call(rpc, { meta });
  call(rpc, { meta: { progressToken: 1 } }, false);
  expect(server.sent.map(({ params }) => params)).toEqual([
    { name: "x", _meta: { progressToken: 1, traceparent: "00-1", "a.b/c": 1 } },
    { name: "x" },
  ]);
});
