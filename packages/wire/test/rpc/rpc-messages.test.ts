import { expect, test } from "vitest";
import {
  forwardedMeta,
  isErrorReply,
  progressOf,
  requestIdOf,
  requestMessage,
  withMeta,
} from "../../src/rpc/rpc-messages.ts";
import type { JsonObject } from "../../src/session.ts";

test.each<[unknown, number]>([
  [7, 7],
  [0, 0],
  ["7", 7],
  ["1234567890123456", 1_234_567_890_123_456],
  ["12345678901234567", -1],
  ["0", -1],
  ["07", -1],
  ["7a", -1],
  ["", -1],
  [null, -1],
  [[7], -1],
])("the id %j of a response belongs to the request %d", (id, request) => {
  expect(requestIdOf(id)).toBe(request);
});

test("a request without parameters has none", () => {
  expect(requestMessage(1, "ping", undefined)).toEqual({ jsonrpc: "2.0", id: 1, method: "ping" });
  expect("params" in requestMessage(1, "ping", undefined)).toBe(false);
  expect(requestMessage(1, "a", { b: 2 })).toEqual({ jsonrpc: "2.0", id: 1, method: "a", params: { b: 2 } });
});

test.each<[JsonObject | undefined, JsonObject | undefined, number | undefined, JsonObject | undefined]>([
  [undefined, undefined, undefined, undefined],
  [{ a: 1, _meta: { b: 2 } }, undefined, undefined, { a: 1, _meta: { b: 2 } }],
  [undefined, undefined, 7, { _meta: { progressToken: 7 } }],
  [undefined, { c: 3 }, undefined, { _meta: { c: 3 } }],
  [{ a: 1 }, { c: 3 }, 7, { a: 1, _meta: { progressToken: 7, c: 3 } }],
  [{ a: 1, _meta: { b: 2, c: 0 } }, { c: 3 }, 7, { a: 1, _meta: { b: 2, progressToken: 7, c: 3 } }],
  [{ a: 1, _meta: { progressToken: "theirs" } }, undefined, 7, { a: 1, _meta: { progressToken: 7 } }],
  [{ a: 1, _meta: "none" }, { c: 3 }, undefined, { a: 1, _meta: { c: 3 } }],
])("the parameters %j with the members %j and the token %j are %j", (params, meta, token, expected) => {
  expect(withMeta(params, meta, token)).toEqual(expected);
});

test("of a client's _meta, a forwarded request has what is neither a token nor of the protocol", () => {
  const ours = { "io.modelcontextprotocol/protocolVersion": "ours", x: 1 };
  expect(forwardedMeta(undefined, ours)).toBe(ours);
  expect(forwardedMeta({ progressToken: 1, "io.modelcontextprotocol/clientInfo": {} }, ours)).toBe(ours);
  expect(forwardedMeta(JSON.parse('{"__proto__":{"a":1}}') as JsonObject, undefined)).toBeUndefined();
  expect(forwardedMeta({ progressToken: 1, trace: "t", x: 2 }, ours)).toEqual({ trace: "t", ...ours });
  expect(forwardedMeta({ trace: "t" }, undefined)).toEqual({ trace: "t" });
});

test.each<[JsonObject, unknown]>([
  [
    { progress: 1, total: 2, message: "m" },
    { progress: 1, total: 2, message: "m" },
  ],
  [
    { progress: 0, message: "" },
    { progress: 0, message: "" },
  ],
  [{ progress: 1, total: "2", message: 3 }, { progress: 1 }],
  [{ progress: 1, total: Number.POSITIVE_INFINITY }, { progress: 1 }],
  [{ progress: Number.NaN }, undefined],
  [{ progress: "1" }, undefined],
  [{}, undefined],
  [
    { progress: 1, message: "x".repeat(1001) },
    { progress: 1, message: `${"x".repeat(999)}…` },
  ],
])("the progress in %j is %j", (params, progress) => {
  expect(progressOf(params)).toEqual(progress);
});

test("a response is an error unless its error is null or missing", () => {
  expect([undefined, null, {}, "", 0, false].map(isErrorReply)).toEqual([false, false, true, true, true, true]);
});
