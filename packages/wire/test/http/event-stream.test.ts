import { PassThrough, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import { readEvents, type StreamEvent } from "../../src/http/event-stream.ts";
import { turn } from "../support/collected.ts";
import { countingBudget } from "../support/counting-budget.ts";
import { failure } from "../support/memory-server.ts";

const comments = "blank lines and comments in its event stream";

/** Reads the chunks of a stream; returns what was delivered and counted. */
async function read(chunks: readonly string[], maxBytes = 1000) {
  const budget = countingBudget();
  const events: StreamEvent[] = [];
  const retries: number[] = [];
  const listener = {
    event: (event: StreamEvent) => void events.push(event),
    retry: (milliseconds: number) => void retries.push(milliseconds),
  };
  const error = await readEvents(
    Readable.from(chunks.map((chunk) => Buffer.from(chunk))),
    { maxBytes, budget },
    { ...listener, event: (event) => listener.event(event) },
  ).then(
    () => undefined,
    (reason: unknown) => reason as WireError,
  );
  return { events, retries, counted: budget.counted, error };
}

const event = (data: string, more: Partial<StreamEvent> = {}): StreamEvent => ({
  event: undefined,
  id: undefined,
  data,
  ...more,
});

describe("the events of a stream", () => {
  test.each<[string, readonly string[], readonly StreamEvent[]]>([
    ["one", ["data: a\n\n"], [event("a")]],
    ["names and ids", ["event: x\nid: 7\ndata: a\n\n"], [event("a", { event: "x", id: "7" })]],
    ["several in one chunk", ["data: a\n\ndata: b\r\n\r\n"], [event("a"), event("b")]],
    ["one in several chunks", ["da", "ta: a", "b\n", "\n"], [event("ab")]],
    ["a last one without a blank line", ["data: a\n\ndata: b"], [event("a"), event("b")]],
    ["a last one without data", ["data: a\n\nid: 7"], [event("a")]],
    ["none", [], []],
  ])("are delivered in order: %s", async (_, chunks, events) => {
    const found = await read(chunks);
    expect(found.events).toEqual(events);
    expect(found.error).toBeUndefined();
  });

  test("may have a character that is cut between two chunks", async () => {
    const bytes = Buffer.from("data: ä\n\n");
    const events: string[] = [];
    await readEvents(
      Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]),
      { maxBytes: 100, budget: countingBudget() },
      { event: ({ data }) => void events.push(data), retry: () => undefined },
    );
    expect(events).toEqual(["ä"]);
  });

  test("come with the server's retry time", async () => {
    expect((await read(["retry: 50\n\n", "retry: 60\n\n"])).retries).toEqual([50, 60]);
  });
});

describe("the limits of a stream", () => {
  test("count bytes, lines, and the lines that belong to no event", async () => {
    const { counted } = await read(["data: a\n\n", "\n\n\n", ":\n:\n:\n:\ndata: b\n\n", "\n\n\n\n\ndata: c\n\n"]);
    expect(counted).toEqual([
      ["bytes", 9],
      ["lines", 2],
      ["bytes", 3],
      ["lines", 3],
      ["unsolicited", comments, 0, 3],
      ["bytes", 17],
      ["lines", 6],
      ["unsolicited", comments, 0, 1],
      ["bytes", 14],
      ["lines", 7],
      ["unsolicited", comments, 0, 2],
    ]);
  });

  test("count no comment for an event of five lines", async () => {
    const { counted } = await read(["event: x\nid: 1\ndata: a\ndata: b\n\n"]);
    expect(counted).toEqual([
      ["bytes", 32],
      ["lines", 5],
    ]);
  });

  test.each([
    ["\n", 130, [64, 64, 2]],
    ["\r", 64, [64]],
  ])("take at most 64 lines at once, with the line end %j", async (end, count, slices) => {
    const { counted } = await read([`:${end}`.repeat(count)]);
    expect(counted.filter(([what]) => what === "lines").map(([, lines]) => lines)).toEqual(slices);
  });

  test("refuse an event that is too large", async () => {
    expect((await read([`data: ${"x".repeat(50)}`, "\n\n"], 100)).error).toBeUndefined();
    const { error, events } = await read(["data: a\n\n", `data: ${"x".repeat(101)}`, "\n\n"], 100);
    expect(error).toMatchObject({ code: "too_large", message: "an event from the server is larger than 100 bytes" });
    expect(events).toEqual([event("a")]);
  });

  test("pause the reader until its budget is refilled", async () => {
    const budget = countingBudget();
    const body = new PassThrough();
    const events: string[] = [];
    budget.spend();
    const reading = readEvents(
      body,
      { maxBytes: 1000, budget },
      { event: ({ data }) => void events.push(data), retry: () => undefined },
    );
    body.write("data: a\n\n");
    await turn();
    body.end("data: b\n\n");
    await turn();
    expect(events).toEqual(["a"]);
    budget.resume()?.();
    await reading;
    expect(events).toEqual(["a", "b"]);
  });
});

describe("a long event", () => {
  test("is handled before the next one and before the end", async () => {
    const order: string[] = [];
    const held: (() => void)[] = [];
    const reading = readEvents(
      Readable.from([Buffer.from("data: long\n\ndata: next\n\n"), Buffer.from("data: last")]),
      { maxBytes: 1000, budget: countingBudget() },
      {
        event({ data }) {
          order.push(`begin ${data}`);
          if (data === "next") return undefined;
          return new Promise<void>((resolve) => {
            held.push(() => {
              order.push(`end ${data}`);
              resolve();
            });
          });
        },
        retry: () => undefined,
      },
    ).then(() => order.push("over"));
    await turn();
    expect(order).toEqual(["begin long"]);
    held[0]?.();
    await turn();
    expect(order).toEqual(["begin long", "end long", "begin next", "begin last"]);
    held[1]?.();
    await reading;
    expect(order).toEqual(["begin long", "end long", "begin next", "begin last", "end last", "over"]);
  });

  test("is handled before more is read", async () => {
    const budget = countingBudget();
    const body = new PassThrough();
    let finish: () => void = () => undefined;
    const reading = readEvents(
      body,
      { maxBytes: 1000, budget },
      {
        event: ({ data }) =>
          data === "long"
            ? new Promise<void>((resolve) => {
                finish = resolve;
              })
            : undefined,
        retry: () => undefined,
      },
    );
    body.write("data: long\n\n");
    await turn();
    body.end("data: next\n\n");
    await turn();
    expect(budget.counted).toEqual([
      ["bytes", 12],
      ["lines", 2],
    ]);
    finish();
    await reading;
    expect(budget.counted).toHaveLength(4);
  });

  test("whose handling fails fails the stream with that error", async () => {
    const cause = new WireError("too_large", "too much memory");
    const reading = readEvents(
      Readable.from([Buffer.from("data: a\n\ndata: b\n\n")]),
      { maxBytes: 1000, budget: countingBudget() },
      { event: () => Promise.reject(cause), retry: () => undefined },
    );
    expect(await failure(reading)).toBe(cause);
  });
});

describe("a stream that breaks", () => {
  test("is lost, with its cause", async () => {
    const cause = new Error("reset");
    const body = new PassThrough();
    const reading = failure(
      readEvents(
        body,
        { maxBytes: 1000, budget: countingBudget() },
        { event: () => undefined, retry: () => undefined },
      ),
    );
    body.destroy(cause);
    expect(await reading).toMatchObject({
      code: "stream_lost",
      message: "the server's event stream broke off",
      evidence: {},
      cause,
    });
  });

  test("delivers no more events after the listener has closed it", async () => {
    const events: string[] = [];
    const body = Readable.from([Buffer.from("data: a\n\n".repeat(100))]);
    const reading = readEvents(
      body,
      { maxBytes: 1000, budget: countingBudget() },
      {
        event({ data }) {
          events.push(data);
          body.destroy();
          return undefined;
        },
        retry: () => undefined,
      },
    );
    expect(await failure(reading)).toMatchObject({ code: "stream_lost" });
    // 64 lines are handled at once.
    expect(events).toHaveLength(32);
  });
});
