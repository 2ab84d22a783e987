import { Buffer } from "node:buffer";
import { describe, expect, test } from "vitest";
import { createLineSplitter, type LineOptions } from "../../src/stdio/lines.ts";

const megabyte = 1024 * 1024;

/** A splitter that notes what happens, with long lines as their length. */
function splitter(options: Partial<LineOptions> = {}) {
  const seen: unknown[] = [];
  const splitting = createLineSplitter({
    limit: 100,
    line: (text) => void seen.push(text.length > 200 ? text.length : text),
    tooLong: () => void seen.push("(too long)"),
    ...options,
  });
  return {
    seen,
    push: (text: string | Buffer) => splitting.push(Buffer.from(text)),
    resume: () => splitting.resume(),
    end: () => splitting.end(),
  };
}

describe("the length of a line", () => {
  test.each([
    [["abcde\n"], ["abcde"]],
    [["abcdef\n"], ["(too long)"]],
    [["ab", "cde", "\n"], ["abcde"]],
    [["ab", "cdef"], ["(too long)"]],
    [["ab", "cdef\n"], ["(too long)"]],
    [["a\nabcdef"], ["a", "(too long)"]],
    [
      ["a\nabcde", "\nb\n"],
      ["a", "abcde", "b"],
    ],
    [["ää\nää1\nääa1\n"], ["ää", "ää1", "(too long)"]],
    [
      ["a\nabcdef\nb\n", "c\n"],
      ["a", "(too long)"],
    ],
  ])("of at most 5 bytes: %j is %j", (chunks, lines) => {
    const { push, end, seen } = splitter({ limit: 5 });
    for (const chunk of chunks) push(chunk);
    end();
    expect(seen).toEqual(lines);
  });

  test("above 1 MB has the limit that limitNow() returns", () => {
    const dropped: unknown[] = [];
    const limits: number[] = [];
    const { push, end, seen } = splitter({
      limit: 8 * megabyte,
      limitNow() {
        limits.push(0);
        return megabyte + 10;
      },
      dropped: (start, bytes) => void dropped.push([start, bytes]),
    });
    push(Buffer.alloc(megabyte, "a"));
    push("\n");
    expect([seen, limits]).toEqual([[megabyte], []]);
    push(Buffer.alloc(megabyte, "b"));
    push("x".repeat(10));
    push("\n");
    expect(seen).toEqual([megabyte, megabyte + 10]);
    push(Buffer.alloc(megabyte + 11, "c"));
    push("d".repeat(5000));
    push("e\nnext\n");
    expect(seen).toEqual([megabyte, megabyte + 10, "next"]);
    expect(dropped).toEqual([["c".repeat(512), megabyte + 11 + 5001]]);
    push(Buffer.alloc(2 * megabyte, "f"));
    end();
    expect(dropped.at(-1)).toEqual(["f".repeat(512), 2 * megabyte]);
    end();
    expect([seen.length, dropped.length]).toEqual([3, 2]);
  });

  test("that is dropped still has the hard limit", () => {
    const { push, seen } = splitter({ limit: 2 * megabyte, limitNow: () => 0 });
    push(Buffer.alloc(2 * megabyte, "a"));
    expect(seen).toEqual([]);
    push("b");
    expect(seen).toEqual(["(too long)"]);
  });

  test("from 128 KB on gives its pieces instead of its text", () => {
    const pieces: number[][] = [];
    const { push, seen } = splitter({
      limit: megabyte,
      slicedLine: (given) => void pieces.push(given.map(({ length }) => length)),
    });
    push("x".repeat(131_071));
    push("\n");
    expect([seen, pieces]).toEqual([[131_071], []]);
    push("x".repeat(131_000));
    push("y".repeat(70));
    push("zz");
    push("\nnext\n");
    expect([seen, pieces]).toEqual([[131_071, "next"], [[131_000, 72]]]);
  });
});

describe("pieces of a line", () => {
  test.each([1, 100, 4095, 4096, 4097, 8191, 8192, 8193])("of %d bytes are put together in order", (size) => {
    const text = Array.from({ length: 20_000 }, (_, at) => String.fromCharCode(97 + (at % 23))).join("");
    const lines: string[] = [];
    const { push } = splitter({ limit: 100_000, line: (line) => void lines.push(line) });
    for (let at = 0; at < text.length; at += size) push(text.slice(at, at + size));
    push("\n");
    for (let at = 0; at < text.length; at += size) push(`${text.slice(at, at + size)}${at % 3 === 0 ? "" : "x"}`);
    push("\n");
    expect(lines[0]).toBe(text);
    expect(lines).toHaveLength(2);
  });
});

describe("a reader that is busy", () => {
  function busy(most: number, options: Partial<LineOptions> = {}) {
    let left = most;
    const opened = splitter({ isBusy: () => left-- <= 0, ...options });
    return {
      ...opened,
      refill: (next: number): boolean => {
        left = next;
        return opened.resume();
      },
    };
  }

  test("gets the chunks that came meanwhile, in order", () => {
    const { push, refill, seen } = busy(2);
    push("1\n2\n");
    push("3\n");
    push("4\nfi");
    push("ve\n");
    expect(seen).toEqual(["1"]);
    expect(refill(1)).toBe(false);
    expect(seen).toEqual(["1", "2"]);
    expect(refill(100)).toBe(true);
    expect(seen).toEqual(["1", "2", "3", "4", "five"]);
  });

  test("waits also before the first line", () => {
    const { push, refill, seen } = busy(0);
    push("1\n");
    expect(seen).toEqual([]);
    expect(refill(0)).toBe(false);
    expect(seen).toEqual([]);
    expect(refill(100)).toBe(true);
    expect(seen).toEqual(["1"]);
  });

  test("makes resume() return false as long as it is busy", () => {
    let isBusy = false;
    const { push, resume, seen } = splitter({ isBusy: () => isBusy });
    push("1\n");
    isBusy = true;
    expect(resume()).toBe(false);
    push("2\n");
    expect([resume(), seen]).toEqual([false, ["1"]]);
    isBusy = false;
    expect([resume(), seen]).toEqual([true, ["1", "2"]]);
  });

  test("gets no line after the end", () => {
    const { push, end, seen } = splitter();
    push("1\n2");
    end();
    push("3\n");
    end();
    expect(seen).toEqual(["1", "2"]);
  });

  test("stops at a line that is too long, once it reads that line", () => {
    const { push, refill, seen } = busy(1, { limit: 5 });
    push("1\n2\n");
    push("abcdefg\n");
    push("3\n");
    expect(refill(100)).toBe(true);
    expect(seen).toEqual(["1", "2", "(too long)"]);
    push("4\n");
    expect(refill(100)).toBe(true);
    expect(seen).not.toContain("4");
    const held = busy(2, { limit: 5 });
    held.push("1\nabcdefg\n2\n");
    expect(held.refill(100)).toBe(true);
    expect(held.seen).toEqual(["1", "(too long)"]);
  });
});
