import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { createMessageWriter, type Direction } from "../../src/connect/redact-message.ts";

const redact = (text: string): string => text.replaceAll("4711", "(hidden)");
const written = (write: ReturnType<typeof createMessageWriter>, direction: Direction, message: JsonObject): unknown =>
  JSON.parse(write(direction, message));

function base64(content: string | readonly number[]): string {
  return (typeof content === "string" ? Buffer.from(content) : Buffer.from(content)).toString("base64");
}

test.each<[Direction, JsonObject, unknown]>([
  ["sent", { a: "is 4711", b: [4711, 12] }, { a: "is (hidden)", b: ["(hidden)", 12] }],
  ["received", { k4711: { x: 1 }, other: true }, { "k(hidden)": { x: 1 }, other: true }],
  [
    "sent",
    { token: { a: 1 }, password: [1], api_key: null, secret: false },
    { token: "(hidden)", password: "(hidden)", api_key: null, secret: false },
  ],
  [
    "received",
    { token: { a: 1 }, password: [1], api_key: 7, secret: "x" },
    { token: { a: 1 }, password: [], api_key: 0, secret: "(hidden)" },
  ],
  ["received", { token: true, password: null }, { token: true, password: null }],
  // Bytes that are a text. Another member, bytes that are no text, and a text that is not base64 stay.
  ["received", { blob: base64("is 4711, ä") }, { blob: base64("is (hidden), ä") }],
  ["sent", { data: base64("is 4711!").replace("=", "") }, { data: base64("is (hidden)!") }],
  ["received", { blob: base64("fine"), other: base64("is 4711") }, { blob: base64("fine"), other: base64("is 4711") }],
  ["received", { data: base64([0xff, ...Buffer.from("4711")]) }, { data: base64([0xff, ...Buffer.from("4711")]) }],
  ["received", { data: "not base64: 12" }, { data: "not base64: 12" }],
])("%s: %j", (direction, message, expected) => {
  expect(written(createMessageWriter(redact, false), direction, message)).toEqual(expected);
});

test("with hideResults, what a server answers is hidden once, and what describes the server or the message stays", () => {
  const write = createMessageWriter(redact, true);
  const call = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { text: "mine", count: 3 } };
  expect(written(write, "sent", call)).toEqual(call);
  write("sent", { id: 8, method: "resources/list" });
  write("sent", { method: "ping" });
  const result = { type: "text", text: "salary", euros: 5000, mimeType: "text/plain", open: true, none: null };
  const hiddenResult = { ...result, text: "(hidden)", euros: 0 };
  expect(written(write, "received", { jsonrpc: "2.0", id: 8, result })).toEqual({ jsonrpc: "2.0", id: 8, result });
  expect(written(write, "received", { jsonrpc: "2.0", id: 7, result })).toEqual({
    jsonrpc: "2.0",
    id: 7,
    result: hiddenResult,
  });
  // A second response to a request, and a response without a request, belong to no list.
  for (const id of [8, undefined])
    expect(written(write, "received", { id, result })).toMatchObject({ result: hiddenResult });
  expect(written(write, "received", { method: "ping", params: { note: "n" } })).toEqual({
    method: "ping",
    params: { note: "n" },
  });
  expect(written(write, "received", { method: "notifications/message", params: { data: "x" } })).toEqual({
    method: "notifications/message",
    params: { data: "(hidden)" },
  });
});
