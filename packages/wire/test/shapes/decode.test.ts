import { Buffer } from "node:buffer";
import { expect, test } from "vitest";
import { decodePieces, decodeUtf8 } from "../../src/shapes/decode.ts";

test.each([
  ["short", "ä short text"],
  ["long ASCII", "x".repeat(20_000)],
  ["long, not ASCII at the end only", `${"x".repeat(20_000)}ä😀`],
  ["empty", ""],
])("bytes are read as UTF-8: %s", (_, text) => {
  const bytes = Buffer.from(text);
  expect(decodeUtf8(bytes)).toBe(text);
  const at = Math.floor(bytes.length / 2);
  expect(decodePieces([bytes.subarray(0, at), bytes.subarray(at)], bytes.length)).toBe(text);
  expect(decodePieces([bytes], bytes.length)).toBe(text);
});

test("invalid bytes become replacement characters, also in a long text", () => {
  const bytes = Buffer.concat([Buffer.alloc(20_000, "x"), Buffer.from([0xff])]);
  expect(decodeUtf8(bytes)).toBe(`${"x".repeat(20_000)}\ufffd`);
});
