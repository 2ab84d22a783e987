import { describe, expect, test } from "vitest";
import {
  answerEmpty,
  answerJson,
  beginEvents,
  PostAnswer,
  type PostAnswerOptions,
  prefersEvents,
  sendEvent,
  writeComment,
} from "../../src/serve/post-answer.ts";
import { UnreadResponses } from "../../src/serve/unread-responses.ts";
import { turn } from "../support/collected.ts";
import { writtenResponse } from "../support/written-response.ts";

const close = "Connection: close\r\n";
const streamHead = `content-type: text/event-stream\r\ncache-control: no-cache, no-transform\r\n${close}\r\n`;

/** The status and the rest of what was written. */
function parts(text: string): [string, string] {
  const [status = "", ...rest] = text.split("\r\n");
  return [status, rest.join("\r\n")];
}

test("JSON is written with its length in bytes", () => {
  const { response, text } = writtenResponse();
  answerJson(response, 400, { a: "ä" }, { "x-a": "1" });
  expect(parts(text())).toEqual([
    "HTTP/1.1 400 Bad Request",
    `x-a: 1\r\ncontent-type: application/json\r\ncontent-length: 10\r\n${close}\r\n{"a":"ä"}`,
  ]);
  expect(response.writableEnded).toBe(true);
});

test("an empty response has no body", () => {
  const { response, text } = writtenResponse();
  answerEmpty(response, 405, { allow: "POST" });
  expect(parts(text())).toEqual([
    "HTTP/1.1 405 Method Not Allowed",
    `allow: POST\r\ncontent-length: 0\r\n${close}\r\n`,
  ]);
  expect(response.writableEnded).toBe(true);
});

test("the head of an event stream is written before the first event", async () => {
  const { response, text } = writtenResponse();
  beginEvents(response, { "content-type": "no", "x-a": "1" });
  expect(parts(text())).toEqual(["HTTP/1.1 200 OK", expect.stringContaining("text/event-stream")]);
  expect(text()).toContain("x-a: 1\r\n");
  sendEvent(response, { a: 1 }, new UnreadResponses(1000));
  writeComment(response);
  await turn();
  expect(text()).toMatch(/event: message\ndata: \{"a":1\}\n\n: waiting\n\n$/);
  expect(response.destroyed).toBe(false);
});

test("a stream is closed if so many bytes of its client's responses wait as may", () => {
  const { response } = writtenResponse(true);
  const unread = new UnreadResponses(200);
  unread.add(response);
  beginEvents(response);
  sendEvent(response, { a: "x".repeat(200) }, unread);
  expect(response.destroyed).toBe(false);
  const other = writtenResponse(true).response;
  sendEvent(other, { a: 1 }, unread);
  expect(other.destroyed).toBe(true);
  sendEvent(response, { a: 1 }, unread);
  expect(response.destroyed).toBe(true);
});

test.each([
  [undefined, false],
  ["", false],
  ["application/json", false],
  ["text/event-stream", true],
  ["Text/Event-Stream", true],
  ["application/json, text/event-stream", false],
  ["text/event-stream, application/json", true],
  ["text/event-stream, */*", true],
  ["text/event-stream, application/json, text/event-stream", true],
  ["*/*, text/event-stream", false],
  ["application/*, text/event-stream", false],
  ["text/html, text/event-stream", true],
  ["*/*", false],
])("a client that accepts %j prefers events: %s", (accept, isPreferred) => {
  expect(prefersEvents(accept === undefined ? {} : { accept })).toBe(isPreferred);
});

describe("the answer to a POST request", () => {
  function answerTo({
    asEvents = false,
    isStuck = false,
    ...options
  }: Partial<PostAnswerOptions & { isStuck: boolean }> = {}) {
    const written = writtenResponse(isStuck);
    const calls: string[] = [];
    const answer = new PostAnswer(written.response, {
      headers: { "x-session": "s" },
      asEvents,
      unread: new UnreadResponses(100_000),
      onEnd: () => void calls.push("end"),
      onAbandoned: () => void calls.push("abandoned"),
      ...options,
    });
    return { ...written, answer, calls };
  }
  const jsonHead = `x-session: s\r\ncontent-type: application/json\r\ncontent-length: 7\r\n${close}\r\n`;

  test("is JSON by default, with a status", async () => {
    const { answer, text, calls } = answerTo();
    expect(answer.isConnected).toBe(true);
    answer.finish({ a: 1 }, 404);
    expect(parts(text())).toEqual(["HTTP/1.1 404 Not Found", `${jsonHead}{"a":1}`]);
    await turn();
    expect([answer.isConnected, calls]).toEqual([false, ["end"]]);
    const ok = answerTo();
    ok.answer.finish({ a: 1 });
    expect(parts(ok.text())).toEqual(["HTTP/1.1 200 OK", `${jsonHead}{"a":1}`]);
  });

  test("is an event if the client prefers that, unless the status is an error", () => {
    const events = answerTo({ asEvents: true });
    events.answer.finish({ a: 1 });
    expect(parts(events.text())).toEqual([
      "HTTP/1.1 200 OK",
      `x-session: s\r\n${streamHead}event: message\ndata: {"a":1}\n\n`,
    ]);
    expect(events.response.writableEnded).toBe(true);
    const failed = answerTo({ asEvents: true });
    failed.answer.finish({ a: 1 }, 400);
    expect(parts(failed.text())).toEqual(["HTTP/1.1 400 Bad Request", `${jsonHead}{"a":1}`]);
  });

  test("becomes an event stream if another message is sent before it", () => {
    const { answer, text, response } = answerTo();
    answer.send({ n: 1 });
    answer.send({ n: 2 });
    expect(response.writableEnded).toBe(false);
    answer.finish({ a: 1 }, 404);
    expect(parts(text())).toEqual([
      "HTTP/1.1 200 OK",
      `x-session: s\r\n${streamHead}${[{ n: 1 }, { n: 2 }, { a: 1 }]
        .map((message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`)
        .join("")}`,
    ]);
    expect(response.writableEnded).toBe(true);
  });

  test("is kept alive with comments from the second time on", async () => {
    const { answer, text } = answerTo();
    answer.keepAlive();
    await turn();
    expect(text()).toBe("");
    answer.keepAlive();
    answer.keepAlive();
    await turn();
    expect(parts(text())).toEqual(["HTTP/1.1 200 OK", `x-session: s\r\n${streamHead}: waiting\n\n: waiting\n\n`]);
  });

  test("ends without a message, with a status as long as nothing was written", async () => {
    const [unavailable, cancelled, streamed] = [answerTo(), answerTo(), answerTo()];
    unavailable.answer.end();
    cancelled.answer.end(202);
    streamed.answer.send({ n: 1 });
    streamed.answer.end();
    expect([unavailable, cancelled, streamed].map(({ text }) => parts(text())[0])).toEqual([
      "HTTP/1.1 503 Service Unavailable",
      "HTTP/1.1 202 Accepted",
      "HTTP/1.1 200 OK",
    ]);
    expect([unavailable, cancelled, streamed].map(({ response }) => response.writableEnded)).toEqual([
      true,
      true,
      true,
    ]);
    await turn();
    expect(streamed.calls).toEqual(["end"]);
  });

  test("is given once: nothing is written after its end", async () => {
    const { answer, text, calls } = answerTo();
    answer.finish({ a: 1 });
    await turn();
    const before = text();
    answer.finish({ b: 2 });
    answer.send({ c: 3 });
    answer.end();
    answer.keepAlive();
    answer.keepAlive();
    await turn();
    expect(text()).toBe(before);
    expect(calls).toEqual(["end"]);
  });

  test("is abandoned if the client disconnects before its end", async () => {
    const { answer, text, response, calls } = answerTo();
    response.destroy();
    await turn();
    expect(calls).toEqual(["abandoned"]);
    expect(answer.isConnected).toBe(false);
    answer.send({ c: 3 });
    answer.keepAlive();
    answer.keepAlive();
    answer.finish({ a: 1 });
    answer.end();
    await turn();
    expect([text(), calls]).toEqual(["", ["abandoned", "end"]]);
  });

  test("is not abandoned if the client disconnects after its end", async () => {
    const { answer, response, calls } = answerTo();
    answer.finish({ a: 1 });
    response.destroy();
    response.emit("close");
    await turn();
    expect(calls).toEqual(["end"]);
  });
});

test("while so many bytes wait as may, a result becomes an error; news that the client can do without is dropped earlier", async () => {
  const unread = new UnreadResponses(6 * 1024 * 1024);
  const answerWith = (isStuck: boolean) => {
    const written = writtenResponse(isStuck);
    const answer = new PostAnswer(written.response, { headers: {}, asEvents: true, unread, onEnd: () => undefined });
    return { ...written, answer };
  };
  const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } };
  const result = (size: number) => ({ jsonrpc: "2.0", id: 1, result: { text: "x".repeat(size) } });
  const stuck = answerWith(true);
  stuck.answer.finish(result(5 * 1024 * 1024));
  expect(stuck.answer.drained()).toBeInstanceOf(Promise);
  const second = answerWith(true);
  second.answer.send(progress);
  second.answer.finish(result(2 * 1024 * 1024));
  expect(second.text()).not.toContain("progress");
  const third = answerWith(false);
  third.answer.finish(result(10));
  expect(third.text()).toContain(
    '"error":{"code":-32603,"message":"the result was dropped: the client reads too slowly',
  );
  const drained = unread.drained();
  stuck.response.destroy();
  await drained;
  second.response.destroy();
  await turn();
  expect(unread.drained()).toBeUndefined();
});
