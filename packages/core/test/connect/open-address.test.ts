import {
  behaves,
  brokenJson,
  cutAt,
  empty,
  emptyJson,
  loginPage,
  noContent,
  redirectTo,
  status,
  type WebReply,
  webServer,
  wrongContentType,
} from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import { connection } from "./connection.ts";

test("a server on the web is connected, and every step on the way is told", async () => {
  await using web = await webServer(behaves);
  await using server = await connection(
    { httpUrl: web.origin, headers: { "X-Mine": "$MINE" } },
    { env: { MINE: "1" } },
  );
  const { serverInfo } = await server.open();
  const milliseconds = expect.any(Number);
  expect(server.steps).toEqual([
    {
      step: "definition",
      transport: { kind: "http", url: web.origin, headers: new Map([["X-Mine", "$MINE"]]) },
      timeout: { milliseconds: 30_000, setting: "fairlead.connectTimeout" },
      redact: expect.any(Function),
      milliseconds,
    },
    { step: "handshake", era: "legacy", protocolVersion: "2025-11-25", transport: "http", serverInfo, milliseconds },
  ]);
  expect(web.seen.map(({ headers }) => headers["x-mine"])).toEqual(web.seen.map(() => "1"));
});

describe("what is no server is not_mcp, with the first of what it said", () => {
  test.each<[string, WebReply, RegExp]>([
    ["a login page", loginPage, /HTTP status 200 with text\/html.*; response begins "<!doctype html>/],
    ["204", noContent, /HTTP status 204/],
    ["nothing", empty, /HTTP status 200/],
    ["an empty JSON document", emptyJson, /contains no JSON-RPC response/],
    ["the wrong type", wrongContentType, /HTTP status 200 with text\/plain.*; response begins "\{/],
    ["broken JSON", brokenJson, /has the content type JSON but is not JSON; response begins "\{/],
  ])("%s", async (_name, reply, message) => {
    await using web = await webServer(reply);
    await using server = await connection({ httpUrl: web.origin });
    expect(await server.failure()).toMatchObject({
      code: "not_mcp",
      message: expect.stringMatching(message),
      next: expect.stringMatching(
        /^Check that the server is running and that its address is right \(.*settings\.json:3\)\.$/,
      ),
    });
  });
});

const signIn = /^fairlead mcp auth s$/;

describe("a status", () => {
  test.each<[WebReply, string, RegExp, RegExp]>([
    [
      status(404),
      "http_status",
      /HTTP status 404 with text\/plain .*; response begins "status 404, sorry"$/,
      /^Check that/,
    ],
    [status(503, { "retry-after": "7" }), "http_status", /HTTP status 503.*; Retry-After: 7/, /^Try again/],
    [
      redirectTo("https://elsewhere.example/mcp"),
      "http_status",
      /redirects to another origin, https:\/\/elsewhere.example;/,
      /^Check/,
    ],
    [status(401), "auth_required", /^"s" requires sign-in \(HTTP 401\)$/, signIn],
    [status(403, { "www-authenticate": "Bearer" }), "auth_required", /requires sign-in \(HTTP 403\)$/, signIn],
    [
      status(403),
      "http_status",
      /^"s" refused access: the server answered with HTTP status 403; response begins "st/,
      /^Check .*"headers"/,
    ],
    [cutAt("initialize"), "unreachable", /the server's response broke off$/, /^Check that/],
  ])("%#: %s", async (reply, code, message, next) => {
    await using web = await webServer(reply);
    await using server = await connection({ url: web.origin });
    expect(await server.failure()).toMatchObject({
      code,
      message: expect.stringMatching(message),
      next: expect.stringMatching(next),
    });
  });

  test("headers that were not enough are named, never their values", async () => {
    await using web = await webServer(status(401));
    await using server = await connection({ httpUrl: web.origin, headers: { "X-Api-Key": "sesame-open" } });
    const { message } = await server.failure();
    expect(message).toBe('"s" requires sign-in (HTTP 401) and rejected the configured headers: X-Api-Key');
  });
});

test("no program listens there", async () => {
  const { origin } = await closedServer();
  await using server = await connection({ httpUrl: origin });
  const { host } = new URL(origin);
  expect(await server.failure()).toMatchObject({
    code: "unreachable",
    message: `"s" cannot be reached: ${host}: ECONNREFUSED`,
  });
});

test("a certificate of an unknown authority: the variable for one's own authority is named", async () => {
  await using web = await webServer(behaves, { secure: true });
  await using server = await connection({ httpUrl: web.origin });
  expect(await server.failure()).toMatchObject({
    code: "tls",
    message: expect.stringMatching(/^"s" cannot be reached over TLS: the certificate of 127\.0\.0\.1/),
    next: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
  });
});

test("https:// where plain HTTP is spoken: the other scheme is suggested", async () => {
  await using web = await webServer(behaves);
  await using server = await connection({ httpUrl: web.origin.replace("http:", "https:") });
  expect(await server.failure()).toMatchObject({
    code: "tls",
    next: expect.stringMatching(/^If the server speaks plain HTTP, write http:\/\/ instead of https:\/\/ \(/),
  });
});

test("a server that never answers is late, not unreachable", async () => {
  const clock = manualClock();
  await using web = await webServer(() => void clock.pass(300));
  await using server = await connection({ httpUrl: web.origin }, { connectTimeout: 300, clock });
  expect(await server.failure()).toMatchObject({
    code: "connect_timeout",
    message: '"s" timed out after 0.3 s: no response to server/discover',
  });
});

async function closedServer(): Promise<{ readonly origin: string }> {
  await using web = await webServer(behaves);
  return { origin: web.origin };
}
