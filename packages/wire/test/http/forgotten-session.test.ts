import { expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import { answer, legacyWeb, openLegacy } from "../support/legacy-web.ts";

const failureOf = (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => undefined,
    (error) => error,
  );

test("the request that is turned away was not done; the outcome of those that were open is unknown", async () => {
  let heard = (): void => {};
  const isOpen = new Promise<void>((resolve) => {
    heard = resolve;
  });
  await using server = await legacyWeb({
    session: "one",
    onPost(message, response) {
      if (message["method"] === "known") return heard();
      response.writeHead(404).end();
    },
  });
  const session = await openLegacy(server);
  const open = failureOf(session.request("known"));
  await isOpen;
  const turnedAway = await failureOf(session.request("unknown"));
  expect(turnedAway).toBeInstanceOf(WireError);
  expect(turnedAway).toMatchObject({ code: "session_expired", evidence: { httpStatus: 404, unsent: true } });
  expect(await session.closed).toMatchObject({ code: "session_expired" });
  expect(await open).toMatchObject({ code: "session_expired" });
  expect(await open).not.toMatchObject({ evidence: { unsent: true } });
});

test("each of many that are turned away hears it for itself, also those that are answered late; none was done", async () => {
  const held: (() => void)[] = [];
  let heard = (): void => {};
  const areOpen = new Promise<void>((resolve) => {
    heard = resolve;
  });
  await using server = await legacyWeb({
    session: "one",
    onPost(_message, response) {
      held.push(() => void response.writeHead(404).end());
      if (held.length === 5) heard();
    },
  });
  const session = await openLegacy(server, { times: { endGrace: 20_000 } });
  const failures = Array.from({ length: 5 }, () => failureOf(session.request("tools/call", { name: "a" })));
  await areOpen;
  held.shift()?.();
  await Promise.race(failures);
  const meanwhile = await failureOf(session.request("tools/call", { name: "a" }));
  for (const turnAway of held) turnAway();
  const turnedAway = { code: "session_expired", evidence: { httpStatus: 404, unsent: true } };
  for (const failure of [meanwhile, ...(await Promise.all(failures))]) expect(failure).toMatchObject(turnedAway);
  expect(await session.closed).toMatchObject({ code: "session_expired" });
  expect(held).toHaveLength(4);
});

test("a 404 with the response to the request is that response; the session goes on", async () => {
  const bodies: ((id: unknown) => string)[] = [
    (id) => JSON.stringify({ jsonrpc: "2.0", id, result: { paid: true } }),
    (id) => JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: "no such order" } }),
    () => JSON.stringify({ jsonrpc: "2.0", id: 12345, result: {} }),
  ];
  await using server = await legacyWeb({
    session: "one",
    onPost({ id }, response) {
      response.writeHead(404, { "content-type": "application/json" }).end(bodies.shift()?.(id));
    },
  });
  const session = await openLegacy(server);
  expect(await session.request("tools/call", { name: "a" })).toEqual({ paid: true });
  expect(await failureOf(session.request("tools/call", { name: "a" }))).toMatchObject({ code: "rpc" });
  const expired = { code: "session_expired", evidence: { httpStatus: 404, unsent: true } };
  expect(await failureOf(session.request("tools/call", { name: "a" }))).toMatchObject(expired);
  expect(await session.closed).toMatchObject({ code: "session_expired" });
});

test("a 404 whose JSON cannot be parsed ends the session", async () => {
  await using server = await legacyWeb({
    session: "one",
    onPost: (_message, response) => void response.writeHead(404, { "content-type": "application/json" }).end("gone"),
  });
  const session = await openLegacy(server);
  expect(await failureOf(session.request("any"))).toMatchObject({ code: "session_expired" });
  expect(await session.closed).toMatchObject({ code: "session_expired" });
});

test("a server that answers the stream of messages with 404 has none; its session goes on", async () => {
  let heard = (): void => {};
  const isAsked = new Promise<void>((resolve) => {
    heard = resolve;
  });
  await using server = await legacyWeb({
    session: "one",
    onGet: (response) => void response.writeHead(404).end(heard),
    onPost: (message, response) => answer(response, message, { still: "here" }),
  });
  const session = await openLegacy(server);
  await isAsked;
  expect(await session.request("any")).toEqual({ still: "here" });
  expect(await session.request("any")).toEqual({ still: "here" });
  await session.close();
  expect(await session.closed).toBeUndefined();
});

test("a stream of messages that was open, and is answered with 404 when it comes back, means that the session is gone", async () => {
  let streams = 0;
  await using server = await legacyWeb({
    session: "one",
    onGet(response) {
      streams += 1;
      if (streams > 1) return void response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/event-stream" }).end("retry: 1\n\n");
    },
  });
  const session = await openLegacy(server);
  expect(await session.closed).toMatchObject({ code: "session_expired" });
});
