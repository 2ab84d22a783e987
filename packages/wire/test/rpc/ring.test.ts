import { Buffer } from "node:buffer";
import { expect, test } from "vitest";
import { createRing } from "../../src/stdio/ring.ts";

function textOf(capacity: number, ...chunks: readonly (string | Buffer)[]): string {
  const ring = createRing(capacity);
  for (const chunk of chunks) ring.push(Buffer.from(chunk));
  return ring.text();
}

test.each<[number, readonly string[], string]>([
  [5, [], ""],
  [5, ["ab"], "ab"],
  [5, ["ab", "cd"], "abcd"],
  [5, ["ab", "cde"], "abcde"],
  [5, ["ab", "cdef"], "bcdef"],
  [5, ["abcde", "f"], "bcdef"],
  [5, ["abcdef"], "bcdef"],
  [5, ["abcdef", "gh"], "defgh"],
  [5, ["ab", "cdefg", "h"], "defgh"],
  [5, ["abcd", "ef", "gh", "ij"], "fghij"],
  [5, ["ab", "", "cde", "", "fg"], "cdefg"],
])("with a capacity of %d bytes, %j leaves %j", (capacity, chunks, text) => {
  expect(textOf(capacity, ...chunks)).toBe(text);
});

test("the buffer grows with what it keeps", () => {
  const pieces = Array.from({ length: 50 }, (_, at) => String.fromCharCode(97 + (at % 26)).repeat(100));
  const all = pieces.join("");
  for (const capacity of [1000, 1024, 1025, 2047, 2048, 2049, 4999, 5000, 5001])
    expect(textOf(capacity, ...pieces)).toBe(all.slice(-capacity));
  expect(textOf(100_000, "a", "b".repeat(5000), "c".repeat(3000))).toBe(`a${"b".repeat(5000)}${"c".repeat(3000)}`);
});

test("a character that was cut at the beginning is left out", () => {
  // "ä" has two bytes, "€" three and "😀" four.
  expect(textOf(4, "äabc")).toBe("abc");
  expect(textOf(5, "äabc")).toBe("äabc");
  expect([textOf(4, "€ab"), textOf(3, "€ab"), textOf(5, "€ab")]).toEqual(["ab", "ab", "€ab"]);
  expect([textOf(4, "😀a"), textOf(3, "😀a"), textOf(5, "😀a")]).toEqual(["a", "a", "😀a"]);
  // At most three bytes can belong to a cut character. Further ones are invalid and shown as such.
  expect(textOf(4, Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80]))).toBe("\ufffd");
  expect(textOf(6, Buffer.from([0x80, 0x61]))).toBe("\ufffda");
});
