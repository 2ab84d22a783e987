import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import {
  headerOf,
  kindOf,
  messagesOf,
  readSizedJson,
  refusalOf,
  statusError,
  takeMessage,
  toBody,
} from "../../src/http/http-answer.ts";
import { discard, type HttpAnswer, readStart, redactSent } from "../../src/http/http-client.ts";
import { LargeMessages } from "../../src/rpc/large-messages.ts";
import type { ReadBudget } from "../../src/rpc/read-budget.ts";
import { turn } from "../support/collected.ts";
import { failure } from "../support/memory-server.ts";
import { recorder } from "../support/recorder.ts";

const json = "application/json";

interface Given {
  readonly status?: number;
  readonly headers?: HttpAnswer["headers"];
  readonly body?: Readable | string;
  readonly sent?: HttpAnswer["sent"];
}

function answerOf({ status = 200, headers = { "content-type": json }, body = "", sent = {} }: Given): HttpAnswer {
  const url = new URL("http://127.0.0.1/mcp");
  return { url, status, headers, body: typeof body === "string" ? Readable.from([Buffer.from(body)]) : body, sent };
}

const typed = (type: string | string[]): HttpAnswer["headers"] => ({ "content-type": type });

describe("the kind of a response", () => {
  test.each<[number, HttpAnswer["headers"], string]>([
    [200, typed("application/json"), "json"],
    [500, typed("Application/JSON; charset=utf-8"), "json"],
    [200, typed(["application/json", "text/html"]), "json"],
    [200, typed("text/event-stream"), "events"],
    [202, typed("text/event-stream;x"), "events"],
    [200, typed("x-application/json"), "other"],
    [200, typed("a-text/event-stream"), "other"],
    [200, typed([]), "other"],
    [200, {}, "other"],
    [202, {}, "empty"],
    [204, typed("text/html"), "empty"],
    [203, {}, "other"],
    [200, { "content-length": "0" }, "empty"],
    [200, { "content-length": "1" }, "other"],
  ])("with the status %d and the headers %j is %s", (status, headers, kind) => {
    expect(kindOf(answerOf({ status, headers }))).toBe(kind);
  });

  test("the first value of a header counts", () => {
    const answer = answerOf({ headers: { one: "1", two: ["a", "b"], none: [] } });
    expect(["one", "two", "none", "other"].map((name) => headerOf(answer, name))).toEqual([
      "1",
      "a",
      undefined,
      undefined,
    ]);
  });
});

describe("a JSON response", () => {
  test.each<[string, unknown, number]>([
    ["", undefined, 0],
    ["\ufeff", undefined, 0],
    ['{"a":"ä"}', { a: "ä" }, 10],
    ["\ufeff[1]", [1], 3],
    ["null", null, 4],
  ])("%j is read with its size in bytes", async (body, value, size) => {
    expect(await readSizedJson(answerOf({ body }), 100)).toEqual({ value, size });
  });

  test.each([131_071, 131_072, 131_073])("of %d characters is read whole, whatever way it takes", async (length) => {
    const text = "x".repeat(length - 2);
    const pieces = [Buffer.from(`"${text.slice(0, 70_000)}`), Buffer.from(`${text.slice(70_000)}"`)];
    expect(await readSizedJson(answerOf({ body: Readable.from(pieces) }), 200_000)).toEqual({
      value: text,
      size: length,
    });
  });

  test("may have exactly as many bytes as the limit", async () => {
    expect(await readSizedJson(answerOf({ body: '"abc"' }), 5)).toEqual({ value: "abc", size: 5 });
    expect(await readSizedJson(answerOf({ body: '"あ"' }), 5)).toEqual({ value: "あ", size: 5 });
    const body = new PassThrough();
    body.write('"ab');
    body.write('c"');
    const error = await failure(readSizedJson(answerOf({ body }), 4));
    expect(error).toMatchObject({ code: "too_large", message: "the server's response is larger than 4 bytes" });
    expect(body.destroyed).toBe(true);
  });

  test("that is not JSON is shown without the secrets that were sent", async () => {
    const headers = { "content-type": "Application/JSON", "retry-after": "7" };
    const sent = { authorization: "Bearer secret-token" };
    const body = `<p>secret-token ${"x".repeat(600)}`;
    const error = await failure(readSizedJson(answerOf({ status: 201, headers, body, sent }), 10_000));
    expect(error).toMatchObject({
      code: "bad_message",
      message: "the server's response has the content type JSON but is not JSON",
    });
    expect(error.evidence).toEqual({
      httpStatus: 201,
      contentType: "application/json",
      retryAfter: "7",
      firstBytes: `<p>… ${"x".repeat(496)}`,
    });
  });

  test("that breaks off is a lost stream, with the cause", async () => {
    const cause = new Error("reset");
    const body = new PassThrough();
    const reading = failure(readSizedJson(answerOf({ body }), 100));
    body.write("[1");
    body.destroy(cause);
    const error = await reading;
    expect(error).toMatchObject({ code: "stream_lost", message: "the server's response broke off", cause });
    expect(error.evidence).toEqual({ httpStatus: 200, contentType: json });
  });

  test("that is closed without an error is a lost stream", async () => {
    const body = new PassThrough();
    const reading = failure(readSizedJson(answerOf({ body, headers: {} }), 100));
    body.destroy();
    expect((await reading).evidence).toEqual({ httpStatus: 200 });
  });

  test("whose decoder fails has the decoder's error", async () => {
    const cause = new WireError("bad_message", "not gzip");
    const body = new PassThrough();
    const reading = failure(readSizedJson(answerOf({ body }), 100));
    body.destroy(cause);
    expect(await reading).toBe(cause);
  });
});

test("a message that cannot be written as JSON was not sent", () => {
  expect(toBody({ a: [1] })).toBe('{"a":[1]}');
  const cause = new Error("no");
  const params = {
    toJSON() {
      throw cause;
    },
  };
  expect(() => toBody({ params })).toThrow(
    expect.objectContaining({
      code: "bad_message",
      message: "the message cannot be written as JSON: no",
      evidence: { unsent: true },
      cause,
    }),
  );
});

test("a batch has at most a thousand messages, and only objects are messages", () => {
  expect([messagesOf({ a: 1 }), messagesOf("x"), messagesOf(undefined), messagesOf([1, { b: 2 }, [], null])]).toEqual([
    [{ a: 1 }],
    [],
    [],
    [{ b: 2 }],
  ]);
  const batch = Array.from({ length: 1001 }, (_, at) => ({ at }));
  expect(messagesOf(batch)).toEqual(batch.slice(0, 1000));
  expect(messagesOf([1, ...batch])).toEqual(batch.slice(0, 999));
});

test("only a message that no request expects counts toward the limit for unrequested output", () => {
  const counted: unknown[] = [];
  const budget: ReadBudget = {
    bytes: () => undefined,
    lines: () => undefined,
    unsolicited: (...given) => void counted.push(given),
    isSpent: () => false,
    whenRefilled: (resume) => resume(),
    isWaiting: () => false,
    largeMessages: new LargeMessages(),
    stop: () => undefined,
  };
  const delivered: unknown[] = [];
  const events = {
    ...recorder(),
    message(message: object, size: number, about?: number) {
      delivered.push([message, size, about]);
      return about === 7 ? undefined : ("notifications" as const);
    },
  };
  takeMessage({ a: 1 }, 10, { events, budget, about: 7 });
  takeMessage({ b: 1 }, 20, { events, budget });
  expect(delivered).toEqual([
    [{ a: 1 }, 10, 7],
    [{ b: 1 }, 20, undefined],
  ]);
  expect(counted).toEqual([["notifications", 20, 1]]);
});

describe("the error of a refusal", () => {
  const refusal = (given: Given): Promise<WireError> => refusalOf(answerOf({ status: 400, ...given }), 1000);

  test.each<[string, string, object]>([
    [
      '{"error":{"code":-32000,"message":"no","data":{"a":1}}}',
      "no",
      { rpc: { code: -32000, data: { a: 1 } }, httpStatus: 400, contentType: json },
    ],
    ['{"error":{"code":"x"}}', "HTTP 400", { rpc: { code: 0 }, httpStatus: 400, contentType: json }],
    [
      '[{"id":1},{"error":7},{"error":{"code":1,"message":"first"}},{"error":{"code":2,"message":"second"}}]',
      "first",
      { rpc: { code: 1 }, httpStatus: 400, contentType: json },
    ],
  ])("is the JSON-RPC error in %s", async (body, message, evidence) => {
    const error = await refusal({ body });
    expect([error.code, error.message, error.evidence]).toEqual(["rpc", message, evidence]);
  });

  test("has a short message without the secrets that were sent", async () => {
    const sent = { authorization: "Bearer secret-token" };
    const body = JSON.stringify({ error: { message: `secret-token Bearer ${"x".repeat(900)}` } });
    expect((await refusal({ body, sent })).message).toBe(`… Bearer ${"x".repeat(900)}`);
    const long = JSON.stringify({ error: { message: "y".repeat(1500) } });
    const { message } = await refusalOf(answerOf({ status: 400, body: long }), 10_000);
    expect(message).toBe(`${"y".repeat(999)}…`);
  });

  test.each<[Given, string, string]>([
    [{ body: '{"a":1}' }, '{"a":1}', " with application/json"],
    [{ body: "<html>" }, "<html>", " with application/json"],
    [{ body: `"${"x".repeat(1000)}"` }, "", " with application/json"],
    [{ body: "plain", headers: typed("Text/Plain") }, "plain", " with text/plain"],
    [{ body: "none", headers: {} }, "none", ""],
    [{ body: "", headers: typed("x".repeat(101)) }, "", ` with ${"x".repeat(99)}…`],
  ])("names the HTTP status if the body has no JSON-RPC error: %j", async (given, firstBytes, what) => {
    const error = await refusal(given);
    expect([error.code, error.message]).toEqual([
      "http_status",
      `the server answered with HTTP status 400${what} instead of a JSON-RPC response`,
    ]);
    expect(error.evidence).toMatchObject({ httpStatus: 400, firstBytes });
  });

  test("has the code bad_message if the status is a success", () => {
    const codes = [199, 200, 299, 300].map((status) => statusError(answerOf({ status }), "").code);
    expect(codes).toEqual(["http_status", "bad_message", "bad_message", "http_status"]);
    expect(statusError(answerOf({ sent: { a: "12345678" } }), "a 12345678").evidence.firstBytes).toBe("a …");
  });
});

describe("text of a server", () => {
  test("has no word of the sent headers that is long enough for a secret", () => {
    const sent = { authorization: "Bearer 12345678", "x-key": "abcdefghi" };
    expect(redactSent("Bearer 12345678 12345678 abcdefghij 1234567", sent)).toBe("Bearer … … …j 1234567");
    expect(redactSent("1234567", { a: "1234567" })).toBe("1234567");
    expect(redactSent("text", {})).toBe("text");
  });

  test("is read up to the limit, and the rest is not", async () => {
    expect(await readStart(Readable.from([Buffer.from("ab"), Buffer.from("cd")]))).toBe("abcd");
    expect(await readStart(Readable.from([Buffer.from("ab"), Buffer.from("cd")]), 3)).toBe("abc");
    const body = Readable.from([Buffer.alloc(512, "x"), Buffer.from("y")]);
    expect(await readStart(body)).toBe("x".repeat(512));
    expect(body.destroyed).toBe(true);
    const broken = new PassThrough();
    const reading = readStart(broken);
    broken.write("start");
    await turn();
    broken.destroy(new Error("reset"));
    expect(await reading).toBe("start");
  });

  test("that is discarded is read to its end, but not more than 64 kB of it", async () => {
    const read = async (...sizes: number[]): Promise<boolean> => {
      const body = Readable.from(sizes.map((size) => Buffer.alloc(size)));
      discard(body);
      await once(body, "close");
      return body.readableEnded;
    };
    expect(await read(65_536)).toBe(true);
    expect(await read(65_536, 1, 1)).toBe(false);
    expect(await read(40_000, 40_000, 1)).toBe(false);
    const broken = new PassThrough();
    discard(broken);
    broken.destroy(new Error("reset"));
    await new Promise((resolve) => broken.on("close", resolve));
  });
});
