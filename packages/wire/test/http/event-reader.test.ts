import { getEventListeners } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { createEventReader, type EventReader } from "../../src/http/event-reader.ts";
import type { RpcMessage } from "../../src/rpc/channel.ts";
import type { TimeSource } from "../../src/rpc/time.ts";
import { type CountingBudget, countingBudget } from "../support/counting-budget.ts";
import { failure } from "../support/memory-server.ts";
import { type Recorder, recorder } from "../support/recorder.ts";
import { stoppedTime } from "../support/simulated-time.ts";

const notMessages = "events that are not messages";

interface Opened {
  readonly reader: EventReader;
  readonly events: Recorder;
  readonly budget: CountingBudget;
  readonly sizes: (readonly unknown[])[];
  readonly read: (text: string) => Promise<void>;
}

function open({ until, time }: { until?: (message: RpcMessage) => boolean; time?: TimeSource } = {}): Opened {
  const events = recorder();
  const budget = countingBudget();
  const sizes: (readonly unknown[])[] = [];
  const reader = createEventReader({
    events: {
      ...events,
      message(message, size, about) {
        sizes.push([size, about]);
        return events.message(message, size, about);
      },
    },
    maxBytes: 10_000_000,
    budget,
    about: 5,
    ...(until && { until }),
    time,
  });
  return { reader, events, budget, sizes, read: (text) => reader.read(Readable.from([Buffer.from(text)]), 0) };
}

const unsolicited = ({ counted }: CountingBudget): unknown[] => counted.filter(([what]) => what === "unsolicited");

describe("the messages of event streams", () => {
  test("are delivered with their size and their request", async () => {
    const { reader, events, sizes, budget, read } = open();
    await read('data: {"a":1}\n\nevent: message\ndata: [{"b":2},{"c":3}]\n\n');
    expect(events.messages).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }]);
    expect(sizes).toEqual([
      [7, 5],
      [8.5, 5],
      [8.5, 5],
    ]);
    expect([reader.delivered(), reader.done(), unsolicited(budget), events.diagnostics]).toEqual([3, false, [], []]);
  });

  test("have their size in bytes, whatever the characters are", async () => {
    const { sizes, budget, read } = open();
    const long = "あ".repeat(100_000);
    await read(`data: {"a":"あ"}\n\ndata: {"a":"${long}"}\n\nevent: other\ndata: あ\n\ndata: "あ\n\n`);
    expect(sizes).toEqual([
      [11, 5],
      [300_008, 5],
    ]);
    expect(unsolicited(budget)).toEqual([
      ["unsolicited", notMessages, 3, 1],
      ["unsolicited", notMessages, 4, 8],
    ]);
  });

  test("do not include events of other kinds", async () => {
    const { reader, events, budget, read } = open();
    await read('event: other\ndata: {"a":1}\n\ndata:\n\ndata: {\n\ndata: 7\n\ndata: []\n\n');
    expect(events.messages).toEqual([]);
    expect(reader.delivered()).toBe(0);
    expect(unsolicited(budget)).toEqual([
      ["unsolicited", notMessages, 7, 1],
      ["unsolicited", notMessages, 0, 1],
      ["unsolicited", notMessages, 1, 8],
      ["unsolicited", notMessages, 1, 8],
      ["unsolicited", notMessages, 2, 8],
    ]);
    expect(events.diagnostics).toEqual(["an event of 1 bytes is not JSON"]);
  });

  test("may be long", async () => {
    const { events, sizes, read } = open();
    const text = "x".repeat(200_000);
    await read(`data: {"text":"${text}"}\n\ndata: {"a":1}\n\ndata: {${text}\n\n`);
    expect(events.messages).toEqual([{ text }, { a: 1 }]);
    expect(sizes[0]).toEqual([200_011, 5]);
    expect(events.diagnostics).toEqual(["an event of 200001 bytes is not JSON"]);
  });

  test("end with the one that the caller waits for, and later ones are delivered too", async () => {
    const { reader, events, read } = open({ until: ({ id }) => id === 1 });
    await read('data: {"id":2}\n\n');
    expect(reader.done()).toBe(false);
    await read('data: {"id":1}\n\ndata: {"id":3}\n\n');
    expect(reader.done()).toBe(true);
    expect(events.messages).toEqual([{ id: 2 }, { id: 1 }, { id: 3 }]);
  });

  test("close a stream that the server leaves open after the last one", async () => {
    for (const data of ['{"id":1}', `{"id":1,"text":"${"x".repeat(200_000)}"}`]) {
      const { reader } = open({ until: ({ id }) => id === 1 });
      const body = new PassThrough();
      const reading = failure(reader.read(body, 0));
      body.write(`data: ${data}\n\n`);
      expect(await reading).toMatchObject({ code: "stream_lost" });
      expect(body.destroyed).toBe(true);
    }
  });

  test("leave a stream open that may still bring the last one", async () => {
    const { reader, events } = open({ until: ({ id }) => id === 1 });
    const body = new PassThrough();
    const reading = reader.read(body, 0);
    body.write('data: {"id":2}\n\n');
    await events.received(1);
    await new Promise((resolve) => setImmediate(resolve));
    body.end('data: {"id":3}\n\n');
    await reading;
    expect(events.messages).toEqual([{ id: 2 }, { id: 3 }]);
  });
});

describe("the position in the streams", () => {
  test("is the last event id that is not empty", async () => {
    const { reader, read } = open();
    expect(reader.position()).toBeUndefined();
    await read('data: {"a":1}\n\n');
    expect(reader.position()).toBeUndefined();
    await read('id: 7\ndata: {"a":1}\n\nid: 8\nevent: other\ndata: x\n\n');
    expect(reader.position()).toBe("8");
    await read('id:\ndata: {"a":1}\n\n');
    expect(reader.position()).toBe("8");
  });
});

describe("the pause before a reconnect", () => {
  const signal = new AbortController().signal;

  test.each([
    [[], undefined, 1_000],
    [[20], undefined, 20],
    [[20, 30], undefined, 30],
    [[60_000], undefined, 60_000],
    [[60_001], undefined, 60_000],
    [[20], 500, 500],
    [[700], 500, 700],
  ])("after the retry times %j, at least %s ms, lasts %d ms", async (retries, atLeast, pause) => {
    const time = stoppedTime();
    const { reader, read } = open({ time });
    for (const retry of retries) await read(`retry: ${retry}\n\n`);
    const pausing = reader.pause(signal, atLeast === undefined ? {} : { atLeast });
    expect(time.left()).toEqual([pause]);
    time.advance(pause);
    await pausing;
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("keeps the process alive only if the caller says so", async () => {
    const kept: unknown[] = [];
    const after: TimeSource["after"] = (_milliseconds, action, how) => {
      kept.push(how);
      queueMicrotask(action);
      return () => undefined;
    };
    const { reader } = open({ time: { now: () => 0, after } });
    await reader.pause(signal);
    await reader.pause(signal, { keepsAlive: true });
    expect(kept).toEqual([{ background: true }, { background: false }]);
  });

  test("ends at once when the caller aborts, and leaves no timer", async () => {
    const time = stoppedTime();
    const { reader } = open({ time });
    const stop = new AbortController();
    const pausing = failure(reader.pause(stop.signal));
    stop.abort("enough");
    expect(await pausing).toMatchObject({
      code: "cancelled",
      message: "cancelled while waiting to reconnect to the stream",
      cause: "enough",
    });
    expect(time.left()).toEqual([]);
  });
});
