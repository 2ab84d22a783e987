/** Where a server that redirects can send us: nowhere but within its own origin, and no other origin sees anything. */

import { expect, test } from "vitest";
import { createHttpClient, type HttpClient } from "../../src/http/http-client.ts";
import { type AuthHook, defaultLimits } from "../../src/target.ts";
import { type WebServer, webServer } from "../support/web-server.ts";

const statuses = [301, 302, 303, 307, 308];
const methods = ["GET", "POST", "DELETE"] as const;
const configured = { "X-Api-Key": "k-1", Cookie: "c=1" };
const signedIn: AuthHook = {
  headers: async () => ({ Authorization: "Bearer t-1" }),
  challenged: async () => false,
};

/** Answers `/STATUS` with a redirect to the place given, anything else with 200. */
function redirecting(place: (own: string) => string): Promise<WebServer> {
  return webServer((request, response) => {
    const status = Number(request.path.slice(1));
    if (!statuses.includes(status)) return void response.end("here");
    response.writeHead(status, { location: place(`http://${request.headers.host}`) }).end();
  });
}

function clientFor({ url }: WebServer, auth: AuthHook = signedIn): Promise<HttpClient> {
  const target = { kind: "http", url, headers: configured } as const;
  return createHttpClient(target, { limits: defaultLimits, auth, proxyFor: () => undefined });
}

const cases = statuses.flatMap((status) => methods.map((method) => [status, method] as const));

function ask(client: HttpClient, server: WebServer, status: number, method: (typeof methods)[number]) {
  const body = method === "POST" ? { body: "{}" } : {};
  const headers = { "mcp-session-id": "s-1" };
  return client.request({ url: new URL(`${server.url}/${status}`), method, headers, ...body, repeatable: true });
}

test.each(cases)("a %i of a %s within the origin is followed with all that was sent", async (status, method) => {
  await using server = await redirecting(() => "/there");
  const client = await clientFor(server);
  const answer = await ask(client, server, status, method);
  answer.body.resume();
  expect(answer.status).toBe(200);
  expect(server.seen.map(({ path }) => path)).toEqual([`/${status}`, "/there"]);
  expect(server.seen[1]).toMatchObject({
    method,
    body: method === "POST" ? "{}" : "",
    headers: { "x-api-key": "k-1", cookie: "c=1", authorization: "Bearer t-1", "mcp-session-id": "s-1" },
  });
  client.close();
});

test.each(statuses)("a %i of a request that must not be repeated is not followed", async (status) => {
  await using server = await redirecting(() => "/there");
  const client = await clientFor(server);
  const url = new URL(`${server.url}/${status}`);
  const asked = client.request({ url, method: "POST", headers: {}, body: "{}", repeatable: false });
  await expect(asked).rejects.toMatchObject({
    code: "http_status",
    message: `the server redirects the call to /there (HTTP ${status}); Fairlead does not follow the redirect`,
    evidence: { httpStatus: status },
  });
  await expect(asked).rejects.not.toMatchObject({ evidence: { unsent: true } });
  expect(server.seen.map(({ path }) => path)).toEqual([`/${status}`]);
  client.close();
});

test.each(cases)("a %i of a %s to another origin goes nowhere", async (status, method) => {
  await using other = await webServer((_request, response) => void response.end("caught"));
  const elsewhere = [
    () => `${other.url}/there`,
    () => `${other.url.replace("http://", "//")}/there`,
    () => `${other.url.replace("127.0.0.1", "localhost")}/there`,
    (own: string) => `${own.replace("http:", "https:")}/there`,
    (own: string) => `${own.replace("127.0.0.1", "localhost")}/there`,
    () => "file:///etc/hostname",
  ];
  for (const place of elsewhere) {
    await using server = await redirecting(place);
    const client = await clientFor(server);
    await expect(ask(client, server, status, method)).rejects.toMatchObject({
      code: "http_status",
      evidence: { httpStatus: status },
    });
    expect(server.seen.length).toBe(1);
    client.close();
  }
  expect(other.seen).toEqual([]);
});

test("a redirect to an invalid URL is not followed, and the message says so", async () => {
  await using server = await redirecting(() => "http://[");
  const client = await clientFor(server);
  await expect(ask(client, server, 307, "GET")).rejects.toMatchObject({
    message: "the server redirects to an invalid URL; Fairlead does not follow the redirect",
  });
  client.close();
});

test("the hook that signs in is asked again for the address that a redirect names", async () => {
  await using server = await redirecting(() => "/there");
  const asked: string[] = [];
  const client = await clientFor(server, {
    headers: async ({ url }) => {
      const { pathname } = new URL(url);
      asked.push(pathname);
      return { authorization: `Bearer for ${pathname}` };
    },
    challenged: async () => false,
  });
  (await ask(client, server, 307, "GET")).body.resume();
  expect(asked).toEqual(["/307", "/there"]);
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer for /307", "Bearer for /there"]);
  client.close();
});
