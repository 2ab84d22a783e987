/** What travels with a redirect, watched on real servers. */

import { type WebReply, type WebServer, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createBoundedFetch, type Fetch, type FetchOptions } from "../../src/net/bounded-fetch.ts";

const statuses = [301, 302, 303, 307, 308];
/** All that a caller may have given; none of it may be seen by another origin. */
const given = {
  authorization: "Bearer t-1",
  cookie: "c=1",
  "proxy-authorization": "Basic p-1",
  "x-api-key": "k-1",
  "mcp-protocol-version": "2025-11-25",
  accept: "application/json",
};
const form = "application/x-www-form-urlencoded;charset=UTF-8";

const here: WebReply = (_request, response) => void response.end("here");

/** Redirects `/STATUS` to a place, and answers anything else. */
function redirecting(place: string): Promise<WebServer> {
  return webServer((request, response) => {
    const status = Number(request.path.slice(1));
    if (!statuses.includes(status)) return here(request, response);
    response.writeHead(status, { location: place }).end("moved");
  });
}

const fetchNear = ({ origin }: WebServer, options: Partial<FetchOptions> = {}): Fetch =>
  createBoundedFetch({ env: {}, near: origin, ...options });

const post = (): RequestInit => ({ method: "POST", headers: given, body: new URLSearchParams({ code: "c-1" }) });

const names = (server: WebServer, at: number): string[] => Object.keys(server.seen[at]?.headers ?? {}).sort();

test.each(statuses)("within the origin, a GET goes on with its headers: %i", async (status) => {
  await using server = await redirecting("/there");
  const answer = await fetchNear(server)(`${server.origin}/${status}`, { headers: given });
  expect([answer.status, answer.url, await answer.text()]).toEqual([200, `${server.origin}/there`, "here"]);
  expect(server.seen[1]).toMatchObject({ method: "GET", headers: given });
});

test.each([
  [301, "GET", ""],
  [302, "GET", ""],
  [303, "GET", ""],
  [307, "POST", "code=c-1"],
  [308, "POST", "code=c-1"],
])("within the origin, a POST goes on as browsers do it: %i, %s", async (status, method, body) => {
  await using server = await redirecting("/there");
  await fetchNear(server)(`${server.origin}/${status}`, post());
  expect(server.seen[1]).toMatchObject({ method, body, headers: given });
  expect(server.seen[1]?.headers["content-type"]).toBe(method === "POST" ? form : undefined);
});

test.each(statuses)("to another origin, a GET goes on without anything that was given: %i", async (status) => {
  await using other = await webServer(here);
  await using server = await redirecting(`${other.origin}/there`);
  const answer = await fetchNear(server)(`${server.origin}/${status}`, { headers: given });
  expect([answer.status, answer.url]).toEqual([200, `${other.origin}/there`]);
  expect(names(other, 0)).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"]);
  expect(other.seen[0]?.headers.accept).toBe("*/*");
});

test.each([301, 302, 303])("to another origin, a POST goes on as an empty question: %i", async (status) => {
  await using other = await webServer(here);
  await using server = await redirecting(`${other.origin}/there`);
  await fetchNear(server)(`${server.origin}/${status}`, post());
  expect(other.seen[0]).toMatchObject({ method: "GET", body: "" });
  expect(names(other, 0)).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"]);
});

test.each([307, 308])("to another origin, nothing that was posted goes on: %i", async (status) => {
  await using other = await webServer(here);
  await using server = await redirecting(`${other.origin}/there`);
  for (const init of [post(), { method: "DELETE" }])
    await expect(fetchNear(server)(`${server.origin}/${status}`, init)).rejects.toMatchObject({
      code: "http_status",
      message: `${server.origin} redirects a ${init.method} request to another origin, ${other.origin}; Fairlead does not follow the redirect`,
    });
  expect(other.seen).toEqual([]);
});

test("what was left behind at the border does not come back with the next redirect", async () => {
  let home = "";
  await using other = await webServer((_request, response) =>
    response.writeHead(307, { location: `${home}/back` }).end(),
  );
  await using server = await redirecting(`${other.origin}/there`);
  home = server.origin;
  await fetchNear(server)(`${home}/307`, { headers: given });
  expect(server.seen.map(({ path }) => path)).toEqual(["/307", "/back"]);
  expect(names(server, 1)).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"]);
});

test.each([
  ["a caller that follows none", {}, { maxRedirects: 0 }],
  ["a caller that would follow by itself, where none is to be followed", { redirect: "manual" }, { maxRedirects: 0 }],
  ["a caller that takes a redirect for an error", { redirect: "error" }, {}],
] as const)("%s gets an error", async (_who, init, options) => {
  await using server = await redirecting("/there");
  for (const status of statuses)
    await expect(
      fetchNear(server, options)(`${server.origin}/${status}`, { ...post(), ...init }),
    ).rejects.toMatchObject({
      code: "http_status",
      message: `${server.origin} redirects to ${server.origin}; Fairlead does not follow the redirect`,
    });
  expect(server.seen.length).toBe(statuses.length);
});

test("a caller that follows by itself gets the redirect as an answer", async () => {
  await using server = await redirecting("/there");
  const answer = await fetchNear(server)(`${server.origin}/308`, { redirect: "manual" });
  expect([answer.status, answer.headers.get("location"), await answer.text()]).toEqual([308, "/there", "moved"]);
  expect(server.seen.length).toBe(1);
});

test("a redirect is followed three times, and no more", async () => {
  await using server = await webServer((request, response) => {
    const left = Number(request.path.slice(1));
    if (left === 0) return here(request, response);
    response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  expect((await fetchNear(server)(`${server.origin}/3`)).status).toBe(200);
  await expect(fetchNear(server)(`${server.origin}/4`)).rejects.toMatchObject({
    code: "http_status",
    message: expect.stringContaining("after 3 redirects"),
  });
});

test.each([
  ["http://", "http_status", "an invalid URL"],
  ["file:///etc/hostname", "denied", '"file:"'],
  ["data:application/json,{}", "denied", '"data:"'],
  ["//user:secret@127.0.0.1/", "denied", "a user name or password"],
  ["http://example.com/", "denied", "the URL must use https"],
  ["https://10.0.0.1/", "denied", "10.0.0.1 is not a public address"],
  ["https://169.254.169.254/", "denied", "169.254.169.254 is not a public address"],
])("a redirect goes no further than an address could: %s", async (location, code, words) => {
  await using server = await redirecting(location);
  const error: unknown = await fetchNear(server)(`${server.origin}/307`).catch((cause: unknown) => cause);
  expect(error).toMatchObject({ name: "HostError", code, message: expect.stringContaining(words) });
  expect(String(error)).not.toContain("secret");
});

test("a redirect without a place to go to is an answer like any other", async () => {
  await using server = await webServer((_request, response) => void response.writeHead(302).end("where?"));
  const answer = await fetchNear(server)(server.origin);
  expect([answer.status, await answer.text()]).toEqual([302, "where?"]);
});
