/** Bounded in time and in size, whatever comes; and otherwise like `fetch`. */

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from "node:zlib";
import { until, type WebReply, type WebServer, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createBoundedFetch, type Fetch, type FetchOptions } from "../../src/net/bounded-fetch.ts";
import { manualClock } from "../support/manual-clock.ts";

const fetchNear = ({ origin }: WebServer, options: Partial<FetchOptions> = {}): Fetch =>
  createBoundedFetch({ env: {}, near: origin, ...options });

test("an answer is a standard one", async () => {
  await using server = await webServer((_request, response) =>
    response
      .writeHead(401, "Not You", { "content-type": "application/json", "www-authenticate": ["Basic", "Bearer"] })
      .end('{"error":"invalid_client"}'),
  );
  const answer = await fetchNear(server)(new URL(`${server.origin}/token?x=1`));
  expect(answer).toBeInstanceOf(Response);
  expect({ ok: answer.ok, status: answer.status, statusText: answer.statusText, url: answer.url }).toEqual({
    ok: false,
    status: 401,
    statusText: "Not You",
    url: `${server.origin}/token?x=1`,
  });
  expect(answer.headers.get("www-authenticate")).toBe("Basic, Bearer");
  expect(await answer.clone().json()).toEqual({ error: "invalid_client" });
});

test.each<[string, RequestInit, string, string | undefined]>([
  [
    "a form",
    { body: new URLSearchParams({ a: "ü &" }) },
    "a=%C3%BC+%26",
    "application/x-www-form-urlencoded;charset=UTF-8",
  ],
  ["a text", { body: "{}", headers: { "Content-Type": "application/json" } }, "{}", "application/json"],
  ["bytes", { body: new TextEncoder().encode("ü") }, "ü", undefined],
  ["nothing", {}, "", undefined],
])("%s is posted as the standard writes it", async (_what, init, body, type) => {
  await using server = await webServer((_request, response) => void response.writeHead(204).end());
  const answer = await fetchNear(server)(server.origin, { method: "POST", ...init });
  expect([answer.status, answer.body]).toEqual([204, null]);
  expect(server.seen).toMatchObject([{ method: "POST", body, headers: { "user-agent": "fairlead" } }]);
  expect(server.seen[0]?.headers["content-type"]).toBe(type);
  expect(server.seen[0]?.headers["content-length"]).toBe(String(Buffer.byteLength(body)));
});

test.each<[string, (text: string) => Buffer]>([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
])("an answer in %s is read, and no longer said to be in it", async (encoding, written) => {
  await using server = await webServer((_request, response) =>
    response.writeHead(200, { "content-encoding": encoding }).end(written('{"a":1}')),
  );
  const answer = await fetchNear(server)(server.origin);
  expect(await answer.json()).toEqual({ a: 1 });
  expect([...answer.headers.keys()].filter((name) => name.startsWith("content-"))).toEqual([]);
});

test.each<[string, Buffer | string, Record<string, string>]>([
  ["as it is", "x".repeat(2000), {}],
  ["gzip", gzipSync("x".repeat(2000)), { "content-encoding": "gzip" }],
  ["deflate", deflateSync("x".repeat(2000)), { "content-encoding": "deflate" }],
  ["br", brotliCompressSync("x".repeat(2000)), { "content-encoding": "br" }],
])("what counts is what an answer becomes: %s", async (_encoding, body, headers) => {
  await using server = await webServer((_request, response) => void response.writeHead(200, headers).end(body));
  expect((await fetchNear(server, { maxBytes: 2000 })(server.origin)).status).toBe(200);
  await expect(fetchNear(server, { maxBytes: 1999 })(server.origin)).rejects.toMatchObject({
    name: "HostError",
    code: "too_large",
    message: `the response of ${server.origin} is larger than 2.0 kB`,
  });
});

test("an answer that grows without an end is cut off, and the connection with it", async () => {
  const closed: Promise<unknown>[] = [];
  await using server = await webServer((_request, response) => {
    closed.push(once(response, "close"));
    const zip = createGzip();
    zip.pipe(response.writeHead(200, { "content-encoding": "gzip" }));
    const zeros = Buffer.alloc(1024 * 1024);
    const more = (): void => {
      if (!response.destroyed) zip.write(zeros, more);
    };
    more();
  });
  await expect(fetchNear(server)(server.origin)).rejects.toMatchObject({ code: "too_large" });
  expect(closed.length).toBe(1);
  await Promise.all(closed);
});

test("no connection is kept, neither of an answer nor of a redirect", async () => {
  const closed: Promise<unknown>[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, ({ url }, response) => {
    if (response.socket !== null) closed.push(once(response.socket, "close"));
    if (url === "/") response.writeHead(302, { location: "/there" }).end();
    else response.end("here");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  expect(await (await createBoundedFetch({ env: {}, near: url })(url)).text()).toBe("here");
  await Promise.all(closed);
  expect(closed.length).toBe(2);
  server.close();
});

const drips: readonly [string, number, WebReply][] = [
  ["says nothing", 1, () => {}],
  ["sends its headers and no more", 1, (_request, response) => void response.writeHead(200).write("{")],
  [
    "sends a byte now and then",
    1,
    (_request, response) => {
      const timer = setInterval(() => response.write(" "), 5);
      response.once("close", () => clearInterval(timer));
    },
  ],
  [
    "redirects, and then says nothing",
    2,
    (request, response) => {
      if (request.path === "/") response.writeHead(307, { location: "/silence" }).end();
    },
  ],
];

test.each(drips)("time is up for a server that %s", async (_does, requests, reply) => {
  const clock = manualClock();
  const closed: Promise<unknown>[] = [];
  await using server = await webServer((request, response) => {
    closed.push(once(response, "close"));
    reply(request, response);
  });
  const failed = expect(fetchNear(server, { clock, timeout: 7000 })(server.origin)).rejects.toMatchObject({
    name: "HostError",
    code: "connect_timeout",
    message: `${server.origin} timed out: no response within 7000 ms`,
  });
  await until(() => server.seen.length === requests);
  await clock.pass(7000);
  await failed;
  await Promise.all(closed);
});

test.each([{}, { https_proxy: "http://127.0.0.1:9" }])(
  "a name that is never found is waited for no longer: %j",
  async (env) => {
    const clock = manualClock();
    let asked = 0;
    const resolve = (): void => {
      asked += 1;
    };
    const failed = expect(createBoundedFetch({ env, clock, resolve })("https://slow.example/")).rejects.toMatchObject({
      code: "connect_timeout",
    });
    await until(() => asked === 1);
    await clock.pass(10_000);
    await failed;
  },
);

test.each(["of all", "of one request"])("the signal %s ends it", async (whose) => {
  await using server = await webServer((_request, response) => void response.writeHead(200).write("{"));
  const caller = new AbortController();
  const { signal } = caller;
  const answer =
    whose === "of all" ? fetchNear(server, { signal })(server.origin) : fetchNear(server)(server.origin, { signal });
  const failed = expect(answer).rejects.toMatchObject({ name: "HostError", code: "cancelled" });
  await until(() => server.seen.length === 1);
  caller.abort();
  await failed;
  await expect(fetchNear(server, { signal })(server.origin)).rejects.toMatchObject({ code: "cancelled" });
  expect(server.seen.length).toBe(1);
});

test.each<[string, WebReply, string, RegExp]>([
  [
    "breaks off",
    (_request, response) => void response.writeHead(200).write("{", () => response.destroy()),
    "unreachable",
    /broke off/,
  ],
  ["hangs up", (_request, response) => void response.destroy(), "unreachable", /cannot be reached/],
  [
    "is not HTTP",
    (_request, response) => void response.socket?.end("SSH-2.0-x\r\n\r\n"),
    "protocol",
    /does not speak HTTP/,
  ],
  [
    "has an unknown encoding",
    (_request, response) => void response.writeHead(200, { "content-encoding": "zstd" }).end("x"),
    "protocol",
    /zstd/,
  ],
  [
    "is not in its encoding",
    (_request, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end("x"),
    "protocol",
    /gzip/,
  ],
  [
    "has endless headers",
    (_request, response) => void response.writeHead(200, { "x-long": "x".repeat(100_000) }).end(),
    "too_large",
    /headers/,
  ],
  ["has a status that is none", (_request, response) => void response.writeHead(999).end(), "protocol", /999/],
])("an answer that %s is told as such", async (_does, reply, code, words) => {
  await using server = await webServer(reply);
  await expect(fetchNear(server)(server.origin)).rejects.toMatchObject({
    name: "HostError",
    code,
    message: expect.stringMatching(words),
  });
});

test("no request is sent where there is no address, or no request that can be written", async () => {
  const fetch = createBoundedFetch({ env: {} });
  await expect(fetch("not an address")).rejects.toMatchObject({ name: "HostError", code: "denied" });
  await expect(fetch("https://example.com/", { method: "no such thing" })).rejects.toMatchObject({
    name: "HostError",
    code: "internal",
  });
});
