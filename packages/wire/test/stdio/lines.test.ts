import { seed } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createLineSplitter } from "../../src/stdio/lines.ts";
import { createMessageLines } from "../../src/stdio/message-lines.ts";
import { createRing } from "../../src/stdio/ring.ts";

function splitter(limit = 1024) {
  const lines: string[] = [];
  const tooLong: number[] = [];
  const splitting = createLineSplitter({
    limit,
    line: (text) => lines.push(text),
    tooLong: () => tooLong.push(lines.length),
  });
  return {
    lines,
    tooLong,
    push: (text: string | Buffer) => splitting.push(Buffer.isBuffer(text) ? text : Buffer.from(text)),
    end: () => splitting.end(),
  };
}

/** A small generator with a seed, so that a failure can be replayed. */
function random(state: number): (below: number) => number {
  let current = state;
  return (below) => {
    current = (Math.imul(current, 1_664_525) + 1_013_904_223) >>> 0;
    return current % below;
  };
}

describe("lines", () => {
  test("several lines of one chunk come in order, and empty ones too", () => {
    const { lines, push } = splitter();
    push("one\ntwo\n\nthree\n");
    expect(lines).toEqual(["one", "two", "", "three"]);
  });

  test("a line may arrive in any number of pieces", () => {
    const { lines, push } = splitter();
    for (const piece of ["o", "n", "e", "\ntw", "o", "\n", "th", "ree\nfour\nfi", "ve\n"]) push(piece);
    expect(lines).toEqual(["one", "two", "three", "four", "five"]);
  });

  test("a thousand messages cut at random places, also inside a character, arrive whole", () => {
    const start = seed();
    const next = random(start);
    const words = ["a", "ü", "€", "😀", "\\n", "x".repeat(5000)];
    const sent = Array.from({ length: 1000 }, (_, id) => {
      const word = words[next(words.length)] ?? "";
      return JSON.stringify({ id, text: word.repeat(1 + next(20)) });
    });
    const bytes = Buffer.from(`${sent.join("\n")}\n`);
    const { lines, push } = splitter(1024 * 1024);
    for (let at = 0; at < bytes.length; ) {
      const size = 1 + next(next(4) === 0 ? 70_000 : 50);
      push(bytes.subarray(at, at + size));
      at += size;
    }
    expect(lines, `FAIRLEAD_SEED=${start}`).toEqual(sent);
  });

  test("the last line needs no newline", () => {
    const { lines, push, end } = splitter();
    push("one\ntwo");
    end();
    end();
    expect(lines).toEqual(["one", "two"]);
  });

  test("a line over the limit is reported at once, before its end, and nothing follows", () => {
    const { lines, tooLong, push, end } = splitter(10);
    push("1234567890\n");
    push("12345");
    push("678901");
    push("more\nand more\n");
    end();
    expect(lines).toEqual(["1234567890"]);
    expect(tooLong).toEqual([1]);
  });

  test("the limit counts bytes, also when the line lies whole in a chunk", () => {
    const { lines, tooLong, push } = splitter(10);
    push("€€€\n€€€€\nno\n");
    expect(lines).toEqual(["€€€"]);
    expect(tooLong).toEqual([1]);
  });

  // Work that grows with the square of the length would copy terabytes, and not end within the time of a test.
  test.each([65_536, 97])("32 MB in one line, in chunks of %d bytes, are read", (size) => {
    const chunk = Buffer.alloc(size, "x");
    const count = Math.ceil((32 * 1024 * 1024) / size);
    const { lines, push } = splitter(65 * 1024 * 1024);
    for (let pushed = 0; pushed < count; pushed += 1) push(chunk);
    push("\n");
    expect(lines.map(({ length }) => length)).toEqual([count * size]);
  });

  test("a line that arrives byte by byte does not cost an object per byte", () => {
    const { lines, push } = splitter(2 * 1024 * 1024);
    const byte = Buffer.from("x");
    const before = process.memoryUsage().heapUsed;
    for (let size = 0; size < 1024 * 1024; size += 1) push(byte);
    const grown = process.memoryUsage().heapUsed - before;
    push("\n");
    expect(lines[0]?.length).toBe(1024 * 1024);
    expect(grown).toBeLessThan(64 * 1024 * 1024);
  });
});

describe("a busy reader", () => {
  function busySplitter(most: number) {
    const lines: string[] = [];
    let left = most;
    const splitting = createLineSplitter({
      limit: 1024,
      line(text) {
        lines.push(text);
        left -= 1;
      },
      tooLong: () => lines.push("(too long)"),
      isBusy: () => left <= 0,
    });
    const refill = (): boolean => {
      left = most;
      return splitting.resume();
    };
    return { lines, refill, push: (text: string) => splitting.push(Buffer.from(text)), end: () => splitting.end() };
  }

  test("gets so many lines at a time, in order, and the rest of the last one", () => {
    const { lines, refill, push } = busySplitter(2);
    push("1\n2\n3\n\n5\nsi");
    expect(lines).toEqual(["1", "2"]);
    expect(refill()).toBe(false);
    expect(lines).toEqual(["1", "2", "3", ""]);
    expect(refill()).toBe(true);
    push("x\n");
    expect(lines).toEqual(["1", "2", "3", "", "5", "six"]);
  });

  test("has nothing to wait for if all lines were taken", () => {
    const { lines, refill, push, end } = busySplitter(2);
    push("1\n2\nlast");
    expect(refill()).toBe(true);
    end();
    expect(lines).toEqual(["1", "2", "last"]);
  });
});

test("a line over the limit of the moment is dropped with its beginning, and the next one is read", () => {
  const lines: string[] = [];
  const dropped: [string, number][] = [];
  let limitNow = 2 * 1024 * 1024;
  const splitting = createLineSplitter({
    limit: 8 * 1024 * 1024,
    line: (text) => lines.push(`${text.slice(0, 5)} ${text.length}`),
    tooLong: () => lines.push("(too long)"),
    limitNow: () => limitNow,
    dropped: (start, bytes) => dropped.push([start.slice(0, 8), bytes]),
  });
  const megabytes = (count: number): Buffer => Buffer.alloc(count * 1024 * 1024, "x");
  splitting.push(Buffer.from('{"id":1,'));
  for (let left = 3; left > 0; left -= 1) splitting.push(megabytes(1));
  splitting.push(Buffer.from("\nnext\n"));
  expect(dropped).toEqual([['{"id":1,', 3 * 1024 * 1024 + 8]]);
  expect(lines).toEqual(["next 4"]);
  limitNow = 4 * 1024 * 1024;
  for (let left = 3; left > 0; left -= 1) splitting.push(megabytes(1));
  splitting.push(Buffer.from("\n"));
  expect(lines.at(-1)).toBe(`xxxxx ${3 * 1024 * 1024}`);
});

describe("message lines", () => {
  const read = () => {
    const messages: unknown[] = [];
    const diagnostics: string[] = [];
    const notAServer: string[] = [];
    const dropped: string[] = [];
    const { take: line, takeInSlices } = createMessageLines({
      events: {
        message: (message) => void messages.push(message),
        diagnostic: (text) => diagnostics.push(text),
        dropped: (start, cause) => dropped.push(`${start.slice(0, 8)} ${cause?.message}`),
      },
      notAServer: ({ message }) => notAServer.push(message),
    });
    return { messages, diagnostics, notAServer, dropped, line, takeInSlices };
  };

  test("a message cut at any place is no message", () => {
    const { messages, line } = read();
    const whole = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ü"}]}}';
    for (let cut = 0; cut < whole.length; cut += 1) line(whole.slice(0, cut));
    expect(messages).toEqual([]);
    line(whole);
    expect(messages).toEqual([JSON.parse(whole)]);
  });

  test("members called __proto__ change no prototype", () => {
    const { messages, line } = read();
    line('{"__proto__":{"polluted":true},"id":1}');
    expect(Object.getPrototypeOf(messages[0])).toBe(Object.prototype);
    expect(messages[0]).not.toHaveProperty("polluted");
  });

  test("the thousand and first line of noise is one too many, unless there was a message", () => {
    const hoping = read();
    hoping.line("{}");
    const other = read();
    for (let count = 0; count < 1000; count += 1) for (const { line } of [hoping, other]) line("y");
    expect(other.notAServer).toEqual([]);
    for (const { line } of [hoping, other]) line("y");
    expect(hoping.notAServer).toEqual([]);
    expect(other.notAServer).toEqual(["the program is not an MCP server: it wrote 1,000 lines and no message"]);
    expect(other.diagnostics).toHaveLength(3);
  });

  test("a report of noise is short, however long the line", () => {
    const { diagnostics, line } = read();
    line("x".repeat(1_000_000));
    expect(diagnostics[0]?.length).toBeLessThan(300);
  });
});

describe("ring", () => {
  test("keeps everything while there is room", () => {
    const ring = createRing(100);
    expect(ring.text()).toBe("");
    ring.push(Buffer.from("one "));
    ring.push(Buffer.from("two"));
    expect(ring.text()).toBe("one two");
  });

  test("keeps exactly the last bytes, whatever the sizes of the pieces", () => {
    const next = random(seed());
    for (const capacity of [1, 7, 64, 5000]) {
      const ring = createRing(capacity);
      let all = "";
      for (let count = 0; count < 100; count += 1) {
        const piece = String.fromCharCode(97 + next(26)).repeat(next(2 * capacity + 2));
        ring.push(Buffer.from(piece));
        all += piece;
        expect(ring.text()).toBe(all.slice(-capacity));
      }
    }
  });

  test("does not begin in the middle of a character", () => {
    const ring = createRing(10);
    ring.push(Buffer.from("😀😀😀"));
    expect(ring.text()).toBe("😀😀");
  });

  test("a ring for nothing keeps nothing", () => {
    const ring = createRing(0);
    ring.push(Buffer.from("something"));
    expect(ring.text()).toBe("");
  });
});
