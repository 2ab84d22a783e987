import { describe, expect, test } from "vitest";
import type { RpcMessage } from "../../src/rpc/channel.ts";
import { createHttpRequest, createHttpSession } from "../../src/serve/http-session.ts";
import { PostAnswer } from "../../src/serve/post-answer.ts";
import { UnreadResponses } from "../../src/serve/unread-responses.ts";
import { turn } from "../support/collected.ts";
import { failure } from "../support/memory-server.ts";
import { type Recorder, recorder } from "../support/recorder.ts";
import { type WrittenResponse, writtenResponse } from "../support/written-response.ts";

interface OpenAnswer extends WrittenResponse {
  readonly answer: PostAnswer;
  /** The status, and the messages and comments of the response. */
  readonly seen: () => Promise<readonly string[]>;
}

function openAnswer(): OpenAnswer {
  const written = writtenResponse();
  const answer = new PostAnswer(written.response, {
    headers: {},
    asEvents: false,
    unread: new UnreadResponses(100_000),
    onEnd: () => undefined,
  });
  return { ...written, answer, seen: () => seenIn(written) };
}

async function seenIn({ text }: WrittenResponse): Promise<readonly string[]> {
  await turn();
  const [head = "", ...body] = text().split("\r\n\r\n");
  const lines = body
    .join("")
    .split("\n")
    .filter((line) => line !== "" && line !== "event: message");
  return [head.split(" ")[1] ?? "", ...lines.map((line) => line.replace(/^data: /, ""))];
}

const request = (id: number | string, method = "x"): RpcMessage => ({ jsonrpc: "2.0", id, method });
const response = (id: number | string): RpcMessage => ({ jsonrpc: "2.0", id, result: {} });
const notification = (n: number): RpcMessage => ({ jsonrpc: "2.0", method: "n", params: { n } });
const cancelled = (requestId: unknown): RpcMessage => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
});
const asText = JSON.stringify;

/** A session with events that note how often and with which sizes they were called. */
function openSession() {
  let ends = 0;
  const sizes: number[] = [];
  let closings = 0;
  const events: Recorder = recorder();
  const session = createHttpSession(new UnreadResponses(100_000), () => {
    ends += 1;
  });
  const noting = {
    ...events,
    message(message: RpcMessage, size: number) {
      sizes.push(size);
      return events.message(message, size);
    },
    closed() {
      closings += 1;
    },
  };
  return { session, events, sizes, open: () => session.open(noting), counts: () => ({ ends, closings }) };
}

describe("a session over HTTP", () => {
  test("answers each request on its own response", async () => {
    const { session, events, sizes, open } = openSession();
    const channel = await open();
    const [one, two] = [openAnswer(), openAnswer()];
    expect([session.take(request(1), 10, one.answer), session.take(request("b"), 20, two.answer)]).toEqual([
      true,
      true,
    ]);
    expect([session.has(1), session.has("b"), session.has(2), session.isIdle()]).toEqual([true, true, false, false]);
    expect(events.messages).toEqual([request(1), request("b")]);
    expect(sizes).toEqual([10, 20]);
    await channel.send(response("b"));
    expect([session.has(1), session.has("b"), session.isIdle()]).toEqual([true, false, false]);
    await channel.send(notification(1), { about: 1 });
    await channel.send(response(1));
    expect(session.isIdle()).toBe(true);
    expect(await two.seen()).toEqual(["200", asText(response("b"))]);
    expect(await one.seen()).toEqual(["200", asText(notification(1)), asText(response(1))]);
    // A response without a request changes nothing.
    await channel.send(response(7));
    expect([channel.cancelBy, session.isIdle()]).toEqual(["message", true]);
  });

  test("keeps messages until it is opened, a hundred at most", async () => {
    const { session, events, sizes, open } = openSession();
    for (let at = 0; at < 100; at += 1) expect(session.take(notification(at), at)).toBe(true);
    const { answer } = openAnswer();
    expect(session.take(request(1), 1, answer)).toBe(false);
    expect(session.has(1)).toBe(false);
    await open();
    expect(events.messages).toEqual(Array.from({ length: 100 }, (_, at) => notification(at)));
    expect(sizes).toEqual(Array.from({ length: 100 }, (_, at) => at));
    expect(session.take(request(1), 1, answer)).toBe(true);
    expect(session.has(1)).toBe(true);
    session.end();
  });

  test("ends the response of a cancelled request, also before it is opened", async () => {
    const { session, events, open } = openSession();
    const [early, late, other] = [openAnswer(), openAnswer(), openAnswer()];
    session.take(request(1), 1, early.answer);
    session.take(cancelled(1), 1);
    expect(session.has(1)).toBe(true);
    await open();
    expect(session.has(1)).toBe(false);
    session.take(request(2), 1, late.answer);
    session.take(request(3), 1, other.answer);
    session.take(cancelled(2), 1);
    session.take(cancelled(9), 1);
    session.take({ ...cancelled(3), method: "notifications/other" }, 1);
    expect([session.has(2), session.has(3)]).toEqual([false, true]);
    expect(await early.seen()).toEqual(["202"]);
    expect(await late.seen()).toEqual(["202"]);
    expect(other.response.writableEnded).toBe(false);
    expect(events.messages).toHaveLength(7);
    session.end();
  });

  test("sends other messages on its stream, and keeps the last hundred until there is one", async () => {
    const { session, open } = openSession();
    const channel = await open();
    for (let at = 0; at < 101; at += 1) await channel.send(notification(at));
    const stream = writtenResponse();
    expect(session.listen(stream.response, { "mcp-session-id": "s" })).toBe(true);
    expect(session.isIdle()).toBe(false);
    await channel.send(notification(101));
    // Nothing waits any more, and the request is not open.
    await channel.send(notification(102), { about: 7 });
    const [status, ...messages] = await seenIn(stream);
    expect(status).toBe("200");
    expect(stream.text()).toContain("mcp-session-id: s\r\n");
    expect(messages).toEqual(Array.from({ length: 102 }, (_, at) => asText(notification(at + 1))));
    session.end();
  });

  test("has one stream at a time", async () => {
    const { session, open } = openSession();
    const channel = await open();
    const [one, two, three] = [writtenResponse(), writtenResponse(), writtenResponse()];
    session.listen(one.response, {});
    expect(session.listen(two.response, {})).toBe(false);
    expect(two.text()).toBe("");
    one.response.destroy();
    await turn();
    expect(session.isIdle()).toBe(true);
    await channel.send(notification(1));
    expect(session.listen(three.response, {})).toBe(true);
    one.response.emit("close");
    expect(session.isIdle()).toBe(false);
    expect(await seenIn(three)).toEqual(["200", asText(notification(1))]);
    session.end();
  });

  test("sends a message on its stream if the connection of its request is lost", async () => {
    const { session, open } = openSession();
    const channel = await open();
    const [lost, stream] = [openAnswer(), writtenResponse()];
    session.take(request(1), 1, lost.answer);
    session.listen(stream.response, {});
    lost.response.destroy();
    await channel.send(notification(1), { about: 1 });
    expect(await seenIn(stream)).toEqual(["200", asText(notification(1))]);
    session.end();
  });

  test("keeps its connections alive", async () => {
    const { session, open } = openSession();
    await open();
    const [answered, stream] = [openAnswer(), writtenResponse()];
    session.take(request(1), 1, answered.answer);
    session.keepAlive();
    session.listen(stream.response, {});
    session.keepAlive();
    expect(await answered.seen()).toEqual(["200", ": waiting"]);
    expect(await seenIn(stream)).toEqual(["200", ": waiting"]);
    session.end();
  });

  test("ends once, with all its responses", async () => {
    const { session, open, counts } = openSession();
    const channel = await open();
    const [answered, stream] = [openAnswer(), writtenResponse()];
    session.take(request(1), 1, answered.answer);
    session.listen(stream.response, {});
    session.end();
    session.end();
    await channel.close();
    const message = "the session has ended before the response; the request may have run";
    expect(await answered.seen()).toEqual(["503", asText({ jsonrpc: "2.0", id: 1, error: { code: -32001, message } })]);
    expect([stream.response.writableEnded, session.has(1)]).toEqual([true, false]);
    expect(counts()).toEqual({ ends: 1, closings: 1 });
    expect(await failure(channel.send(notification(1)))).toMatchObject({
      code: "closed",
      message: "the client has ended its session",
      evidence: { unsent: true },
    });
  });

  test("ends with its channel", async () => {
    const { open, counts } = openSession();
    await (await open()).close();
    expect(counts()).toEqual({ ends: 1, closings: 1 });
  });

  test("can end before it is opened, and then closes no channel", () => {
    const { session, counts } = openSession();
    session.end();
    expect(counts()).toEqual({ ends: 1, closings: 0 });
  });
});

test("a session over HTTP that has ended before it was opened is closed at once, and delivers nothing", async () => {
  const { session, events, open, counts } = openSession();
  session.take(request(1), 10, openAnswer().answer);
  session.end();
  await open();
  expect([events.messages, counts()]).toEqual([[], { ends: 1, closings: 1 }]);
});

describe("one modern request over HTTP", () => {
  function openRequest() {
    const given = openAnswer();
    const delivered: unknown[] = [];
    let closings = 0;
    const httpRequest = createHttpRequest(request(1), 77, given.answer, { "mcp-param-a": "1" });
    const open = () =>
      httpRequest.open({
        ...recorder(),
        message(...arrival) {
          delivered.push(arrival);
          return undefined;
        },
        closed() {
          closings += 1;
        },
      });
    return { ...given, delivered, open, abandon: httpRequest.abandon, closings: () => closings };
  }

  test("is delivered after its channel is open, and answered once", async () => {
    const { open, delivered, seen, closings } = openRequest();
    const opening = open();
    expect(delivered).toEqual([]);
    const channel = await opening;
    await turn();
    expect(delivered).toEqual([[request(1), 77, undefined, { "mcp-param-a": "1" }]]);
    expect(channel.cancelBy).toBe("stream");
    await channel.send(notification(1));
    expect(closings()).toBe(0);
    await channel.send(response(1));
    expect(closings()).toBe(1);
    expect(await seen()).toEqual(["200", asText(notification(1)), asText(response(1))]);
    expect(await failure(channel.send(response(1)))).toMatchObject({
      code: "closed",
      message: "the client has closed the connection",
      evidence: { unsent: true },
    });
    await channel.close();
    expect(closings()).toBe(1);
  });

  test.each([
    [-32601, "404"],
    [-32020, "400"],
    [-32021, "400"],
    [-32022, "400"],
    [-32603, "200"],
    [undefined, "200"],
  ])("has for the error %s the status %s", async (code, status) => {
    const { open, seen } = openRequest();
    const message = { jsonrpc: "2.0", id: 1, error: { code, message: "no" } };
    await (await open()).send(message);
    expect(await seen()).toEqual([status, asText(message)]);
  });

  test("ends without an answer if its channel is closed", async () => {
    const { open, seen, closings } = openRequest();
    await (await open()).close();
    expect([await seen(), closings()]).toEqual([["503"], 1]);
  });

  test("of a client that has left before it was opened is closed at once, and not delivered", async () => {
    const { open, abandon, delivered, closings } = openRequest();
    abandon();
    await open();
    await turn();
    expect([delivered.length, closings()]).toEqual([0, 1]);
  });
});
