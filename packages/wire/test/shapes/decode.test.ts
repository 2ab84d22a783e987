import { Buffer } from "node:buffer";
import { expect, test } from "vitest";
import { decodeInSlices, decodePieces, decodeUtf8 } from "../../src/shapes/decode.ts";

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

/** Decodes in slices with a count of the turns that other code got. */
async function sliced(pieces: Buffer[]): Promise<{ readonly text: string; readonly turns: number }> {
  let turns = 0;
  const text = await decodeInSlices(pieces, async () => {
    turns += 1;
  });
  return { text, turns };
}

test("pieces are decoded in slices, with characters that were cut, and the list is empty afterwards", async () => {
  const bytes = Buffer.from("aä😀b");
  for (let at = 0; at <= bytes.length; at += 1) {
    const pieces = [bytes.subarray(0, at), bytes.subarray(at)];
    expect(await sliced(pieces)).toEqual({ text: "aä😀b", turns: 0 });
    expect(pieces).toEqual([]);
  }
  expect(await sliced([])).toEqual({ text: "", turns: 0 });
});

test("a decoded piece is no longer held while the rest is decoded", async () => {
  const pieces = [1, 2, 3].map(() => Buffer.alloc(512 * 1024, "x"));
  const held: number[] = [];
  await decodeInSlices(pieces, async () => {
    held.push(pieces.length);
  });
  expect(held).toEqual([2, 1, 0]);
});

test("a character that stays incomplete is replaced, before ASCII and at the end", async () => {
  const half = Buffer.from("ä").subarray(0, 1);
  expect((await sliced([half, Buffer.from("x"), half])).text).toBe("\ufffdx\ufffd");
});

test("other code runs after each half megabyte", async () => {
  const half = 512 * 1024;
  const turnsOf = async (...sizes: number[]): Promise<number> =>
    (await sliced(sizes.map((size) => Buffer.alloc(size, "x")))).turns;
  expect(await turnsOf(half - 1)).toBe(0);
  expect(await turnsOf(half)).toBe(1);
  expect(await turnsOf(half - 1, 1, half - 1)).toBe(1);
  expect(await turnsOf(half, half, half)).toBe(3);
});
