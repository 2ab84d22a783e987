/** What the hook that signs in is told, and what becomes of the request it is asked about. */

import { inspect } from "node:util";
import { expect, test } from "vitest";
import { type Challenge, connect, type Session } from "../../src/index.ts";
import type { AuthHook } from "../../src/target.ts";
import { result, sendJson, type WebServer, webServer } from "../support/web-server.ts";

const greeting = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "guarded", version: "1" } };

/** Wants the right word in every request, and refuses with the headers given. */
function guarded(word: string, refusal: Record<string, string>): Promise<WebServer> {
  return webServer((request, response) => {
    if (request.headers.authorization !== word) sendJson(response, `{"error":"no"}`, 401, refusal);
    else if (request.body.includes('"id"')) sendJson(response, result(request, greeting));
    else response.writeHead(202).end();
  });
}

function open({ url }: WebServer, auth: AuthHook): Promise<Session> {
  const target = { kind: "http", url, headers: {} } as const;
  return connect(target, { clientInfo: { name: "test", version: "1" }, era: "legacy", auth });
}

test("the hook learns all headers of the refusal, and what it had given for the refused request", async () => {
  await using server = await guarded("DPoP two", { "www-authenticate": "DPoP error=x", "dpop-nonce": "n-1" });
  const challenges: Challenge[] = [];
  let word = "DPoP one";
  const session = await open(server, {
    headers: async () => ({ authorization: word }),
    challenged: async (challenge) => {
      challenges.push(challenge);
      word = "DPoP two";
      return true;
    },
  });
  expect(challenges).toMatchObject([
    {
      status: 401,
      attempt: 0,
      wwwAuthenticate: "DPoP error=x",
      headers: { "dpop-nonce": "n-1" },
      sent: { authorization: "DPoP one" },
      address: "127.0.0.1",
    },
  ]);
  expect(session.serverInfo.name).toBe("guarded");
  await session.close();
});

test("the hook is asked for headers with the method and the address of every request", async () => {
  await using server = await guarded("Bearer one", {});
  const asked: string[] = [];
  const session = await open(server, {
    headers: async ({ method, url }) => {
      asked.push(`${method} ${new URL(url).pathname}`);
      return { authorization: "Bearer one" };
    },
    challenged: async () => false,
  });
  await session.close();
  expect(asked.slice(0, 2)).toEqual(["POST /", "POST /"]);
});

test("a sign-in that fails is the reason why the server cannot be used", async () => {
  await using server = await guarded("Bearer two", { "www-authenticate": "Bearer" });
  const cause = new Error("the browser did not come back");
  const failing = open(server, { headers: async () => ({}), challenged: () => Promise.reject(cause) });
  await expect(failing).rejects.toMatchObject({
    code: "unauthorized",
    message: "sign-in failed: the browser did not come back",
    evidence: { httpStatus: 401, wwwAuthenticate: "Bearer", firstBytes: `{"error":"no"}` },
  });
});

test("a request is not sent when its headers cannot be had", async () => {
  await using server = await guarded("Bearer two", {});
  const failing = open(server, {
    headers: () => Promise.reject(new Error("the keyring is locked")),
    challenged: async () => false,
  });
  await expect(failing).rejects.toMatchObject({ code: "unauthorized", evidence: { unsent: true } });
  expect(server.seen).toEqual([]);
});

test("a hook that always claims success is asked a limited number of times", async () => {
  await using server = await guarded("Bearer two", {});
  let asked = 0;
  const failing = open(server, {
    headers: async () => ({}),
    challenged: async () => {
      asked += 1;
      return true;
    },
  });
  await expect(failing).rejects.toMatchObject({ code: "unauthorized", evidence: { httpStatus: 401 } });
  expect(asked).toBeLessThan(6);
});

test("a redirect to an invalid URL is refused", async () => {
  await using server = await webServer((_, response) => void response.writeHead(307, { location: "http://" }).end());
  const lost = open(server, { headers: async () => ({}), challenged: async () => false });
  await expect(lost).rejects.toMatchObject({ code: "http_status", evidence: { httpStatus: 307 } });
});

test.each([
  ["a refusal", 401, "text/plain", (token: string) => `what is ${token}?`],
  ["a failure", 500, "text/plain", (token: string) => `what is ${token}?`],
  ["half a JSON", 200, "application/json", (token: string) => `{"token":"${token}`],
  ["a JSON of its own", 400, "application/json", (token: string) => `{"detail":"what is ${token}?"}`],
  ["an error", 400, "application/json", (token: string) => `{"error":{"code":1,"message":"what is ${token}?"}}`],
])("%s that quotes the token is told without it", async (_, status, type, words) => {
  const token = "token-of-a-person";
  await using server = await webServer((_request, response) => {
    response.writeHead(status, { "content-type": type, "www-authenticate": `Bearer error="${token}"` });
    response.end(words(token));
  });
  const auth = { headers: async () => ({ authorization: `Bearer ${token}` }), challenged: async () => false };
  const error: unknown = await open(server, auth).catch((reason: unknown) => reason);
  expect(inspect(error, { depth: 9 })).toContain("…");
  expect(inspect(error, { depth: 9 })).not.toContain(token);
});
