import { createServer } from "node:net";
import { scaled } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { isLoopback, listenOn, openCallbackServer, portIn } from "../../../src/auth/browser/callback-server.ts";
import { freePort } from "../free-port.ts";

const state = "s".repeat(43);

async function visit(url: string | URL, init: RequestInit = {}): Promise<{ status: number; body: string }> {
  const response = await fetch(url, init);
  return { status: response.status, body: await response.text() };
}

/** With a Host header that `fetch` would not send. */
async function visitAs(host: string, url: URL): Promise<string> {
  const { connect } = await import("node:net");
  const socket = connect(Number(url.port), "127.0.0.1");
  socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  let answer = "";
  for await (const chunk of socket) answer += String(chunk);
  return answer.split("\r\n")[0] ?? "";
}

function saying(words: string): unknown {
  return expect.stringContaining(`<p>${words}</p>`);
}

function answerAt(redirectUri: string, parameters: Readonly<Record<string, string>>): URL {
  return new URL(`?${new URLSearchParams(parameters).toString()}`, redirectUri);
}

test("the browser's answer is received once, and its page shows nothing of it", async () => {
  const server = await openCallbackServer({ state, path: "/random" });
  expect(server.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/random$/);
  const url = answerAt(server.redirectUri, { state, code: "the-code", iss: "https://issuer" });
  const response = await fetch(url);
  const body = await response.text();
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    connection: "close",
  });
  expect(body).toMatch(/^<!doctype html><html lang="en"><meta charset="utf-8"><title>Fairlead<\/title>/);
  expect(body).toContain(
    "<p>Sign-in response received. Go back to the program where you started; you can close this window.</p>",
  );
  expect(body).not.toMatch(/the-code|issuer|src=|href=|<script|<style/);
  expect(Object.fromEntries(await server.answer)).toEqual({ state, code: "the-code", iss: "https://issuer" });
  expect(await visit(url)).toEqual({ status: 410, body: saying("This sign-in response was already received.") });
  await server.close();
  await expect(fetch(url)).rejects.toThrow();
});

// A server that listens on all addresses, which other machines can reach, would answer at 127.0.0.2 too. Systems other
// than Linux do not have this address.
test.runIf(process.platform === "linux").each<[string, { readonly redirectUri?: string }]>([
  ["without a redirect URI", {}],
  ["with the redirect URI http://localhost/cb", { redirectUri: "http://localhost/cb" }],
])("%s, the callback server listens at no other address than its own", async (_, more) => {
  const server = await openCallbackServer({ state, path: "/cb", ...more });
  const { port } = new URL(server.redirectUri);
  await expect(fetch(`http://127.0.0.2:${port}/cb`)).rejects.toThrow("fetch failed");
  await server.close();
});

test("a wrong state is refused however often it comes, and the right one is still awaited", async () => {
  const server = await openCallbackServer({ state, path: "/random" });
  const wrong = ["", state.slice(1), `${state}s`, "x".repeat(43)];
  for (let round = 0; round < scaled(1_000); round += 1) {
    const url = answerAt(server.redirectUri, { state: wrong[round % wrong.length] ?? "", code: "evil", error: "evil" });
    expect(await visit(url)).toMatchObject({ status: 400, body: expect.not.stringContaining("evil") });
  }
  expect(await visit(`${server.redirectUri}?code=evil`)).toEqual({
    status: 400,
    body: saying("This response does not belong to the current sign-in."),
  });
  await visit(answerAt(server.redirectUri, { state, code: "good" }));
  expect((await server.answer).get("code")).toBe("good");
  await server.close();
});

test("other paths, other methods and other names get nothing", async () => {
  const server = await openCallbackServer({ state, path: "/random" });
  const url = answerAt(server.redirectUri, { state, code: "c" });
  expect(await visit(new URL(`/${url.search}`, url))).toEqual({ status: 404, body: saying("Not found.") });
  expect((await visit(new URL(`/random/${url.search}`, url))).status).toBe(404);
  expect(await visit(url, { method: "POST" })).toEqual({
    status: 405,
    body: saying("Only GET is allowed."),
  });
  expect(await visitAs("evil.example", url)).toBe("HTTP/1.1 421 Misdirected Request");
  expect(await visitAs(`evil.example:${url.port}`, url)).toBe("HTTP/1.1 421 Misdirected Request");
  expect(await visitAs(`localhost:${url.port}`, url)).toBe("HTTP/1.1 200 OK");
  expect((await server.answer).get("code")).toBe("c");
  await server.close();
});

test("a redirect URI with a port is listened to there and left as it is written", async () => {
  const port = await freePort();
  const redirectUri = `http://localhost:${port}/cb`;
  const server = await openCallbackServer({ state, redirectUri, path: "" });
  expect(server.redirectUri).toBe(redirectUri);
  // `localhost` may mean either address.
  await visit(answerAt(`http://127.0.0.1:${port}/cb`, { state, code: "c" }));
  expect((await server.answer).get("code")).toBe("c");
  await server.close();
});

test("localhost is listened to at both of its addresses, where the machine has both", async () => {
  const server = await openCallbackServer({ state, redirectUri: "http://localhost/cb", path: "" });
  const { port } = new URL(server.redirectUri);
  const taken = createServer();
  const outcome = await new Promise<string>((resolve) => {
    taken.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
    taken.listen({ host: "::1", port: Number(port), exclusive: true }, () => resolve("free"));
  });
  taken.close();
  expect(["EADDRINUSE", "EADDRNOTAVAIL", "EAFNOSUPPORT"]).toContain(outcome);
  await server.close();
});

/** An address that no machine has: it is reserved for documentation. */
const missing = "192.0.2.1";

test("an address that the machine does not have is left out, unless it is the first", async () => {
  const servers = await listenOn(["127.0.0.1", missing], 0, () => {});
  expect(servers.map((server) => server.address())).toMatchObject([{ address: "127.0.0.1" }]);
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  await expect(listenOn([missing, "127.0.0.1"], 0, () => {})).rejects.toMatchObject({ code: "EADDRNOTAVAIL" });
});

test("if the port is in use at one of the addresses, Fairlead listens at none of them", async () => {
  const port = await freePort();
  for (const wanted of [port, 0])
    await expect(listenOn(["127.0.0.1", "127.0.0.1"], wanted, () => {})).rejects.toMatchObject({ code: "EADDRINUSE" });
  const servers = await listenOn(["127.0.0.1"], port, () => {});
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
});

test("a redirect URI with the IPv6 address is listened to at that address only", async () => {
  const open = openCallbackServer({ state, redirectUri: "http://[::1]/cb", path: "", port: await freePort() });
  const server = await open.catch((error: NodeJS.ErrnoException) => {
    expect(["EADDRNOTAVAIL", "EAFNOSUPPORT"]).toContain(error.code);
    return undefined;
  });
  if (server === undefined) return;
  expect(server.redirectUri).toMatch(/^http:\/\/\[::1\]:\d+\/cb$/);
  const url = answerAt(server.redirectUri, { state, code: "c" });
  await expect(fetch(`http://127.0.0.1:${url.port}/cb`)).rejects.toThrow();
  expect((await visit(url)).status).toBe(200);
  await server.close();
});

test("a redirect URI without a port gets the one that is listened to", async () => {
  const server = await openCallbackServer({ state, redirectUri: "http://127.0.0.1/cb", path: "" });
  expect(server.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/cb$/);
  await server.close();
});

test("another port may be listened to than the one the browser is sent to, for one that is forwarded", async () => {
  const redirectUri = "http://localhost:7/cb";
  const port = await freePort();
  const server = await openCallbackServer({ state, redirectUri, path: "", port });
  expect(server.redirectUri).toBe(redirectUri);
  const url = answerAt(`http://127.0.0.1:${port}/cb`, { state, code: "c" });
  expect(await visitAs("localhost:7", url)).toBe("HTTP/1.1 200 OK");
  await server.close();
});

test("a port that is taken is an error, and leaves nothing listening", async () => {
  const other = await openCallbackServer({ state, path: "/other" });
  const port = Number(new URL(other.redirectUri).port);
  await expect(openCallbackServer({ state, path: "/cb", port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  await other.close();
});

test("who opens a connection and says nothing does not keep it from closing", async () => {
  const server = await openCallbackServer({ state, path: "/random" });
  const { connect } = await import("node:net");
  const socket = connect(Number(new URL(server.redirectUri).port), "127.0.0.1");
  const ended = new Promise((resolve) => socket.once("close", resolve));
  await new Promise((resolve) => socket.once("connect", resolve));
  await server.close();
  await ended;
});

test.each([
  ["http://127.0.0.1:80/cb", "80"],
  ["http://localhost:80", "80"],
  ["https://app.example:443/cb?x=:1", "443"],
  ["http://[::1]:8080/cb", "8080"],
  ["http://[::1]/cb", undefined],
  ["http://127.0.0.1/cb:80", undefined],
])("%s names the port %s", (redirectUri, port) => {
  expect(portIn(redirectUri)).toBe(port);
});

test.each([
  ["http://127.0.0.1/cb", true],
  ["http://localhost:7777/cb", true],
  ["http://[::1]/cb", true],
  ["https://localhost/cb", false],
  ["http://127.0.0.2/cb", false],
  ["http://localhost.example/cb", false],
])("%s is an address of this machine: %s", (url, expected) => {
  expect(isLoopback(new URL(url))).toBe(expected);
});
