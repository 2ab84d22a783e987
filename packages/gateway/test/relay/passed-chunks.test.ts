import { expect, test } from "vitest";
import { createPassedChunks, hasOnlyMessages } from "../../src/relay/relay.ts";

test("chunks are read later, oldest first, and once", () => {
  const chunks = createPassedChunks();
  const read: string[] = [];
  chunks.add(Buffer.from("a"), (chunk) => read.push(`1 ${String(chunk)}`));
  chunks.add(Buffer.from("b"), (chunk) => read.push(`2 ${String(chunk)}`));
  expect(read).toEqual([]);
  chunks.readAll();
  chunks.readAll();
  expect(read).toEqual(["1 a", "2 b"]);
});

test("the 128th chunk is read at once, with all before it; then the count begins again", () => {
  const chunks = createPassedChunks();
  let count = 0;
  const add = (times: number): void => {
    const read = (): void => {
      count += 1;
    };
    for (let at = 0; at < times; at += 1) chunks.add(Buffer.from("a"), read);
  };
  add(127);
  expect(count).toBe(0);
  add(1);
  expect(count).toBe(128);
  add(127);
  expect(count).toBe(128);
});

test("256 KiB are read at once, with all before them; then the count begins again", () => {
  const chunks = createPassedChunks();
  const sizes: number[] = [];
  const add = (bytes: number): void => chunks.add(Buffer.alloc(bytes), ({ length }) => sizes.push(length));
  add(200 * 1024);
  add(56 * 1024 - 1);
  expect(sizes).toEqual([]);
  add(1);
  expect(sizes).toEqual([200 * 1024, 56 * 1024 - 1, 1]);
  add(256 * 1024 - 1);
  expect(sizes).toHaveLength(3);
});

test("chunks that are added while others are read wait for the next time", () => {
  const chunks = createPassedChunks();
  const read: string[] = [];
  chunks.add(Buffer.from("a"), () => chunks.add(Buffer.from("b"), (chunk) => read.push(chunk.toString())));
  chunks.readAll();
  expect(read).toEqual([]);
  chunks.readAll();
  expect(read).toEqual(["b"]);
});

test.each([
  ["", true],
  ["{}\n", true],
  ['{"a":1}\n{"b":2}\n', true],
  ['{"a":1}\n{"b"', true],
  ["sent [1]\n", false],
  ["{}\nbye\n", false],
  ["{}\n\n", false],
])("%j has only messages: %s", (text, isSo) => {
  expect(hasOnlyMessages(Buffer.from(text))).toBe(isSo);
});
