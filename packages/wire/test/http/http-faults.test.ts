import { describe, expect, test } from "vitest";
import { connect } from "../../src/connect.ts";
import { openHttp } from "../../src/http/http.ts";
import type { JsonObject } from "../../src/session.ts";
import { defaultLimits, defaultTimes } from "../../src/target.ts";
import { answer, legacyWeb, openLegacy } from "../support/legacy-web.ts";
import { failure } from "../support/memory-server.ts";
import { clientInfo } from "../support/modern-session.ts";
import { recorder } from "../support/recorder.ts";
import { sendJson, startEvents, webServer } from "../support/web-server.ts";

/** JSON values that nothing can be made of: to convert them throws. */
const stubborn = '{"toString":1,"valueOf":1}';
const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;

describe("an error whose code cannot be read", () => {
  test.each([
    ["an object that converts to nothing", stubborn],
    ["nested without end", deep],
  ])("because it is %s fails its request at once", async (_, code) => {
    await using server = await legacyWeb({
      onPost: ({ id }, response) =>
        sendJson(response, `{"jsonrpc":"2.0","id":${String(id)},"error":{"code":${code},"message":"no"}}`),
    });
    const session = await openLegacy(server);
    expect(await failure(session.request("x"))).toMatchObject({ code: "rpc", message: "no" });
    await session.close();
  });
});

test.each([
  [
    "a notification about an invalid URL",
    `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":${stubborn}}}`,
  ],
  ["an answer under an id that is none", `{"jsonrpc":"2.0","id":${stubborn},"result":{}}`],
])("%s does not cut the stream that it is on", async (_, oddity) => {
  await using server = await legacyWeb({
    onPost({ id }, response) {
      startEvents(response);
      response.end(`data: ${oddity}\n\ndata: {"jsonrpc":"2.0","id":${String(id)},"result":{"ok":1}}\n\n`);
    },
  });
  const session = await openLegacy(server);
  expect(await session.request("x")).toEqual({ ok: 1 });
  await session.close();
});

describe("a body that the client does not read", () => {
  test.each(["", "not compressed"])("and that says it is compressed, but is %j, causes no error", async (body) => {
    const uncaught: unknown[] = [];
    const note = (error: unknown) => void uncaught.push(error);
    const before = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", note);
    try {
      await using server = await legacyWeb({
        session: "s1",
        onPost: (message, response) =>
          message["id"] === undefined
            ? void response.writeHead(202, { "content-encoding": "gzip" }).end(body)
            : answer(response, message, {}),
        onDelete: (response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(body),
      });
      const session = await openLegacy(server);
      for (let i = 0; i < 5; i += 1) await session.notify("notifications/x");
      await session.request("x");
      await session.close();
      expect(uncaught).toEqual([]);
    } finally {
      process.removeListener("uncaughtException", note);
      for (const listener of before) process.on("uncaughtException", listener);
    }
  });

  test("and that has no end is not read without end", async () => {
    let closed: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      closed = resolve;
    });
    await using server = await legacyWeb({
      onPost(_, response) {
        response.writeHead(202, { "content-type": "text/plain" }).on("close", closed);
        const chunk = Buffer.alloc(65_536);
        const more = (): void => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on("drain", more);
        more();
      },
    });
    const session = await openLegacy(server);
    await session.notify("notifications/x");
    await ended;
    await session.close();
  });
});

describe("a server that takes a notification and never says so", () => {
  test("does not hold up the handshake beyond its time", async () => {
    await using server = await legacyWeb({ onInitialized: () => {} });
    expect(await failure(openLegacy(server, { times: { connect: 300 } }))).toMatchObject({ code: "timeout" });
  });

  test("does not hold up a caller who gives up", async () => {
    const abort = new AbortController();
    await using server = await legacyWeb({ onInitialized: () => abort.abort() });
    expect((await failure(openLegacy(server, { signal: abort.signal }))).code).toBe("cancelled");
  });

  test("fails that notification in time", async () => {
    await using server = await webServer(() => {});
    const times = { ...defaultTimes, send: 200 };
    const open = openHttp(
      { kind: "http", url: server.url, headers: {} },
      { limits: defaultLimits, times, proxyFor: () => undefined },
    );
    // Without a handshake: its notification has the same limit, and the answer may take longer on a busy machine.
    const channel = await open(recorder(), new AbortController().signal);
    expect(await failure(channel.send({ jsonrpc: "2.0", method: "notifications/x" }))).toMatchObject({
      code: "send_blocked",
      message: "the server did not accept the message within 200 ms",
    });
    await channel.close();
  });
});

describe("closing", () => {
  test("while a person signs in takes back the request: it is not sent any more", async () => {
    let asked: () => void = () => {};
    const asking = new Promise<void>((resolve) => {
      asked = resolve;
    });
    let signIn: (done: boolean) => void = () => {};
    let signal: AbortSignal | undefined;
    await using server = await legacyWeb({
      onPost: (_, response) => void response.writeHead(401).end(),
    });
    const session = await openLegacy(server, {
      auth: {
        headers: async () => ({}),
        challenged: (_, given) => {
          signal = given;
          asked();
          return new Promise((resolve) => {
            signIn = resolve;
          });
        },
      },
    });
    const call = failure(session.request("tools/call", { name: "t" }));
    await asking;
    await session.close();
    expect((await call).code).toBe("closed");
    expect(signal?.aborted).toBe(true);
    const before = server.seen.length;
    signIn(true);
    // One more visitor, so that whatever was on its way has arrived.
    await (await fetch(server.url, { method: "DELETE" })).text();
    expect(server.seen.slice(before).map(({ method }) => method)).toEqual(["DELETE"]);
  });

  test("never asks a person to sign in", async () => {
    await using server = await legacyWeb({
      session: "s1",
      onDelete: (response) => void response.writeHead(401).end(),
    });
    let asked = 0;
    const session = await openLegacy(server, {
      times: { endGrace: 600_000 },
      auth: {
        headers: async () => ({}),
        challenged: () => {
          asked += 1;
          return new Promise(() => {});
        },
      },
    });
    await session.close();
    expect(server.seen.at(-1)?.method).toBe("DELETE");
    expect(asked).toBe(0);
  });

  test("does not wait for a server that answers with another protocol", async () => {
    await using server = await legacyWeb({
      session: "s1",
      onDelete: (response) =>
        void response.socket?.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    });
    const session = await openLegacy(server, { times: { endGrace: 600_000 } });
    await session.close();
    expect(server.seen.at(-1)?.method).toBe("DELETE");
  });
});

test("a server that answers with another protocol fails the request at once", async () => {
  await using server = await legacyWeb({
    onPost: (_, response) =>
      void response.socket?.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
  });
  const session = await openLegacy(server);
  expect((await failure(session.request("x"))).code).not.toBe("timeout");
  await session.close();
});

test.each([401, 500])("a refusal with %d whose body never ends is told as what it is", async (status) => {
  await using server = await legacyWeb({
    onPost: (_, response) => void response.writeHead(status, { "content-type": "text/plain" }).write("no"),
  });
  const session = await openLegacy(server);
  expect((await failure(session.request("x"))).evidence).toMatchObject({ httpStatus: status, firstBytes: "no" });
  await session.close();
});

test("a GET stream that brings something and is then cut is opened again however often that happens", async () => {
  const news: unknown[] = [];
  let tenth: () => void = () => {};
  const enough = new Promise<void>((resolve) => {
    tenth = resolve;
  });
  await using server = await legacyWeb({
    onGet(response) {
      startEvents(response);
      response.write('retry: 1\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n', () =>
        response.socket?.resetAndDestroy(),
      );
    },
  });
  const session = await openLegacy(server, {
    onNotification(_, params) {
      if (news.push(params) === 10) tenth();
    },
  });
  await enough;
  await session.close();
});

test("a byte order mark before JSON is tolerated, as it is on stdio", async () => {
  await using server = await legacyWeb({
    onPost: ({ id }, response) => sendJson(response, `\ufeff{"jsonrpc":"2.0","id":${String(id)},"result":{"ok":1}}`),
  });
  const session = await openLegacy(server);
  expect(await session.request("x")).toEqual({ ok: 1 });
  await session.close();
});

test("an error under no id, as the only answer to a request, is that request's", async () => {
  await using server = await legacyWeb({
    onPost: (_, response) =>
      sendJson(response, '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"too odd"}}'),
  });
  const session = await openLegacy(server);
  expect(await failure(session.request("x"))).toMatchObject({ code: "rpc", message: "too odd" });
  await session.close();
});

test("what cannot be written as JSON is a bad message that was never sent, as it is on stdio", async () => {
  await using server = await legacyWeb({});
  const session = await openLegacy(server);
  const circle: JsonObject = {};
  circle["circle"] = circle;
  expect(await failure(session.request("x", circle))).toMatchObject({
    code: "bad_message",
    evidence: { unsent: true },
  });
  await session.close();
});

test("an event id beyond ASCII goes back as the bytes it came in", async () => {
  const resumed: string[] = [];
  await using server = await legacyWeb({
    onPost(_, response) {
      startEvents(response);
      response.end("retry: 1\nid: é€\ndata:\n\n");
    },
    onGet(response, lastEventId) {
      if (lastEventId === undefined) return void response.writeHead(405).end();
      resumed.push(Buffer.from(lastEventId, "latin1").toString("utf8"));
      startEvents(response);
      response.end('data: {"jsonrpc":"2.0","id":2,"result":{"ok":1}}\n\n');
    },
  });
  const session = await openLegacy(server);
  expect(await session.request("x")).toEqual({ ok: 1 });
  expect(resumed).toEqual(["é€"]);
  await session.close();
});

test("the words of a server are not carried into messages without bound", async () => {
  await using server = await legacyWeb({
    onPost: ({ id, method }, response) =>
      method === "html"
        ? void response.writeHead(418, { "content-type": `text/${"x".repeat(10_000)}` }).end()
        : sendJson(
            response,
            JSON.stringify({ jsonrpc: "2.0", id, error: { code: 1, message: "x".repeat(1_000_000) } }),
          ),
  });
  const session = await openLegacy(server);
  for (const method of ["x", "html"])
    expect((await failure(session.request(method))).message.length).toBeLessThan(5_000);
  await session.close();
});

test("an address that the older HTTP+SSE may not name is shown shortened", async () => {
  await using server = await webServer((_request, response) => {
    startEvents(response);
    response.write(`event: endpoint\ndata: http://${"e".repeat(100_000)}\n\n`);
  });
  const error = await failure(
    connect({ kind: "sse", url: server.url, headers: {} }, { clientInfo, proxyFor: () => undefined }),
  );
  expect(error.evidence.firstBytes?.length).toBeLessThan(1_000);
});
