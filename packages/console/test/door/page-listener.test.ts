import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { gunzipSync } from "node:zlib";
import { HostError } from "@fairlead/core/errors";
import { expect, test } from "vitest";
import { PageListener } from "../../src/server/door/page-listener.ts";
import { builtPage } from "../support/built-page.ts";
import { openDoor } from "../support/open-door.ts";
import { exchange, post, readEvents, send, signIn } from "../support/page-client.ts";
import { ScriptedSource } from "../support/scripted-source.ts";

const key = { "idempotency-key": "k1" };

test("the document, its scripts and styles come compressed, and scripts are kept by the browser", async () => {
  await using door = await openDoor();
  const plain = await send(`${door.origin}/`);
  expect(plain.headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-store" });
  const [, script = ""] = /src="(\/assets\/[^"]+[.]js)"/.exec(plain.body) ?? [];
  for (const [accepted, encoding] of [
    ["gzip, deflate, br", "br"],
    ["deflate, gzip;q=1.0", undefined],
    ["gzip", "gzip"],
    ["", undefined],
    ["brown, agzip", undefined],
  ] as const) {
    const { status, headers } = await send(door.origin + script, { headers: { "accept-encoding": accepted } });
    expect([accepted, status, headers["content-encoding"]]).toEqual([accepted, 200, encoding]);
    expect(headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "private, max-age=31536000, immutable",
      vary: "accept-encoding",
    });
  }
  const { gzip } = builtPage().assets.get(script) ?? {};
  expect((await send(door.origin + script)).body).toBe(gunzipSync(gzip ?? "").toString());
});

test("the icon is at the address where browsers look for one, and in the document", async () => {
  await using door = await openDoor();
  const [, icon = ""] = /<link rel="icon"[^>]* href="([^"]+)"/.exec((await send(`${door.origin}/`)).body) ?? [];
  const asked = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" };
  for (const path of [icon, "/favicon.ico"]) {
    const { status, headers, body } = await send(door.origin + path, { headers: asked });
    expect([path, status, headers["content-type"]]).toEqual([path, 200, "image/svg+xml"]);
    expect(body).toContain("</svg>");
  }
  expect((await send(`${door.origin}/favicon.ico`)).headers["cache-control"]).toBe("no-store");
  const other = { headers: { ...asked, "sec-fetch-site": "cross-site" } };
  expect((await send(`${door.origin}/favicon.ico`, other)).status).toBe(403);
});

test("a page exchanges its code once, and runs commands with its bearer", async () => {
  const source = new ScriptedSource(({ params }) => ({ got: params }));
  await using door = await openDoor({ source });
  const address = door.address();
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#k=[\w-]{43}$/);
  const headers = await signIn(address);
  expect((await exchange(address)).status).toBe(401);
  const answer = await post(door.origin, "/api/tools/list", { a: [1] }, { ...headers, ...key });
  expect([answer.status, answer.body, answer.headers["event-id"]]).toEqual([200, '{"got":{"a":[1]}}', "0"]);
  expect(source.commands).toMatchObject([{ verb: "tools/list", params: { a: [1] } }]);
  expect(answer.headers["set-cookie"]).toBeUndefined();
});

test("a command that fails says why: 400 for wrong parameters, 422 otherwise", async () => {
  const errors = [
    new HostError("usage", "wrong", { next: "fairlead help" }),
    new HostError("arguments_invalid", "bad"),
    new HostError("denied", "no"),
    new Error("boom"),
  ];
  const source = new ScriptedSource(() => {
    throw errors.shift();
  });
  await using door = await openDoor({ source });
  const headers = await signIn(door.address());
  const replies = [];
  for (const at of [1, 2, 3, 4]) {
    const { status, body } = await post(door.origin, "/api/verb", {}, { ...headers, "idempotency-key": `${at}` });
    replies.push([status, JSON.parse(body)]);
  }
  expect(replies).toEqual([
    [400, { error: { code: "usage", message: "wrong", next: "fairlead help" } }],
    [400, { error: { code: "arguments_invalid", message: "bad" } }],
    [422, { error: { code: "denied", message: "no" } }],
    [422, { error: { code: "internal", message: "boom" } }],
  ]);
});

test("a command that is sent again with its key runs once; another one with this key is refused", async () => {
  const source = new ScriptedSource(() => ({ run: source.commands.length }));
  await using door = await openDoor({ source });
  const headers = { ...(await signIn(door.address())), ...key };
  const sent = [
    await post(door.origin, "/api/calls/tool", { call: "1" }, headers),
    await post(door.origin, "/api/calls/tool", { call: "1" }, headers),
    await post(door.origin, "/api/calls/tool", { call: "2" }, headers),
  ];
  expect(sent.map(({ status, body }) => [status, body.slice(0, 10)])).toEqual([
    [200, '{"run":1}'],
    [200, '{"run":1}'],
    [409, '{"error":{'],
  ]);
  // Another window has keys of its own.
  const other = { ...(await signIn(door.address())), ...key };
  expect((await post(door.origin, "/api/calls/tool", { call: "2" }, other)).body).toBe('{"run":2}');
});

test("a command ends with the session that has sent it", async () => {
  const source = new ScriptedSource(
    ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("ended")))),
  );
  await using door = await openDoor({ source });
  const headers = { ...(await signIn(door.address())), ...key };
  const running = post(door.origin, "/api/slow", {}, headers).catch(() => "cut");
  while (source.commands.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await door.close();
  expect(source.commands[0]?.signal.aborted).toBe(true);
  await running;
});

test("wrong requests to the API change nothing", async () => {
  await using door = await openDoor();
  const headers = await signIn(door.address());
  const { origin } = door;
  const all = { ...headers, ...key };
  const statuses = {
    "no bearer": await post(origin, "/api/tools/list", {}, key),
    "a wrong bearer": await post(origin, "/api/tools/list", {}, { ...key, authorization: `Bearer ${"A".repeat(43)}` }),
    "no key": await post(origin, "/api/tools/list", {}, headers),
    "a strange key": await post(origin, "/api/tools/list", {}, { ...headers, "idempotency-key": "a b" }),
    "no JSON": await post(origin, "/api/tools/list", "x", all),
    "a JSON list": await post(origin, "/api/tools/list", [], all),
    "too much": await post(origin, "/api/tools/list", "", { ...all, "content-length": "8388609" }),
    "a form": await post(origin, "/api/tools/list", "a=b", { ...all, "content-type": "text/plain" }),
    "JSON by a similar name": await post(
      origin,
      "/api/tools/list",
      {},
      { ...all, "content-type": "application/jsonp" },
    ),
    "GET of a command": await send(`${origin}/api/tools/list`, { headers }),
    "POST of the stream": await post(origin, "/api/events", {}, headers),
    "the stream without a bearer": await send(`${origin}/api/events`),
    PUT: await send(`${origin}/api/tools/list`, { method: "PUT", headers: { origin } }),
    "POST of the document": await post(origin, "/", {}, headers),
    "a path that there is not": await send(`${origin}/assets/../package.json`),
    "a session without a code": await post(origin, "/api/session", {}),
    "a code for another page": await post(origin, "/api/session", {
      code: new URL(door.address()).hash.slice(3),
      path: "/question/x",
    }),
  };
  expect(Object.fromEntries(Object.entries(statuses).map(([name, { status }]) => [name, status]))).toEqual({
    "no bearer": 401,
    "a wrong bearer": 401,
    "no key": 400,
    "a strange key": 400,
    "no JSON": 400,
    "a JSON list": 400,
    "too much": 413,
    "a form": 415,
    "JSON by a similar name": 415,
    "GET of a command": 404,
    "POST of the stream": 400,
    "the stream without a bearer": 401,
    PUT: 405,
    "POST of the document": 405,
    "a path that there is not": 404,
    "a session without a code": 404,
    "a code for another page": 404,
  });
  expect(door.source.commands).toEqual([]);
});

test("a path in an address leads to no file of the machine", async () => {
  await using door = await openDoor();
  const paths = [
    "/assets/",
    "/assets/%2e%2e/files.json",
    "/files.json",
    "/index.html",
    "//etc/passwd",
    "/assets/main.js",
  ];
  const found = await Promise.all(paths.map((path) => send(door.origin + path)));
  expect(found.map(({ status }) => status)).toEqual(paths.map(() => 404));
});

test("the port is the wanted one, and a port that is in use is named", async () => {
  await using first = await openDoor();
  const { port } = first.listener;
  const files = builtPage();
  const clock = { after: () => () => {} };
  await expect(PageListener.listen({ files, clock, port })).rejects.toThrow(
    `port ${port} is in use by another program`,
  );
  await first.close();
  const second = await PageListener.listen({ files, clock, port });
  expect(second.port).toBe(port);
  await second.close();
});

test("64 streams can be open; one more is refused, and the others go on", async () => {
  await using door = await openDoor();
  const headers = await signIn(door.address());
  const readers = await Promise.all(Array.from({ length: 64 }, () => readEvents(door.origin, headers)));
  expect(await send(`${door.origin}/api/events`, { headers })).toMatchObject({ status: 503 });
  for (const reader of readers) expect(await reader.next()).toMatchObject({ id: 0 });
  for (const reader of readers) reader.cut();
});

test.for([
  ["say nothing", ""],
  ["send half a header", "POST / HTTP/1.1\r\nhost: a"],
  [
    "send half a body",
    "POST /api/session HTTP/1.1\r\nhost: HOST\r\norigin: http://HOST\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\nhalf",
  ],
])("200 connections that %s do not keep a person from the page", async ([, text = ""]) => {
  await using door = await openDoor();
  const host = new URL(door.origin).host;
  const sockets: Socket[] = [];
  for (let at = 0; at < 200; at += 1) {
    const socket = connect(door.listener.port, "127.0.0.1").on("error", () => {});
    sockets.push(socket);
    await once(socket, "connect");
    socket.write(text.replaceAll("HOST", host));
  }
  const headers = await signIn(door.address());
  await using reader = await readEvents(door.origin, headers);
  expect(await reader.next()).toMatchObject({ event: { type: "snapshot" } });
  for (const socket of sockets) socket.destroy();
});

test("a page that is closed has no session and no address any more; other pages of the listener stay", async () => {
  await using door = await openDoor();
  const { source, ring } = door;
  const question = door.listener.open({ kind: "question", path: "/question/abc", source, ring });
  const address = question.newAddress(1000);
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/question\/abc#k=[\w-]{43}$/);
  expect(question.isVisited()).toBe(false);
  const headers = await signIn(address);
  expect(question.isVisited()).toBe(true);
  const unused = question.newAddress(1000);
  const console = await signIn(door.address());
  question.close();
  expect(await exchange(unused)).toMatchObject({
    status: 404,
    body: expect.stringContaining("not open here any more"),
  });
  expect(await post(door.origin, "/api/verb", {}, { ...headers, ...key })).toMatchObject({ status: 401 });
  expect(await post(door.origin, "/api/verb", {}, { ...console, ...key })).toMatchObject({ status: 200 });
});

test("a question's page says whether its address is incomplete, or was opened in another window", async () => {
  await using door = await openDoor();
  const { source, ring } = door;
  const question = door.listener.open({ kind: "question", path: "/question/abc", source, ring });
  const address = question.newAddress(1000);
  const wrong = address.replace(/#.*/, "#k=");
  expect(await exchange(wrong)).toMatchObject({ status: 401, body: expect.stringContaining("open the whole address") });
  expect(await exchange(address)).toMatchObject({ status: 200, body: expect.stringContaining('"kind":"question"') });
  for (const later of [address, wrong])
    expect(await exchange(later)).toMatchObject({ status: 401, body: expect.stringContaining("already opened") });
});
