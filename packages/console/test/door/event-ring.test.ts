import { expect, test } from "vitest";
import type { ConsoleEvent } from "../../src/protocol/events.ts";
import { EventRing } from "../../src/server/door/event-ring.ts";
import { note } from "../support/scripted-source.ts";

function filled(ring: EventRing, count: number): EventRing {
  for (let at = 0; at < count; at += 1) ring.add(note(`${at}`));
  return ring;
}

/** The numbers of the events in a chunk. */
function numbersIn(chunk: Buffer): readonly number[] {
  return [...chunk.toString().matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
}

test("events are numbered from 1, without gaps", () => {
  const ring = new EventRing();
  expect(ring.last).toBe(0);
  expect(ring.has(0)).toBe(true);
  expect(ring.after(0, 1000)).toBeUndefined();
  filled(ring, 3);
  expect(ring.last).toBe(3);
  expect(ring.after(0, 1000)).toMatchObject({ last: 3 });
  expect(numbersIn(ring.after(1, 1000)?.chunk ?? Buffer.alloc(0))).toEqual([2, 3]);
  expect(ring.after(3, 1000)).toBeUndefined();
});

test("an event is one line of JSON, whatever line breaks its texts have", () => {
  const ring = new EventRing();
  const event: ConsoleEvent = { type: "log", server: "a", at: 1, line: "one\n\nid: 9\r\ntwo\u2028three" };
  ring.add(event);
  const [id, data = "", ...others] = ring.after(0, 1)?.chunk.toString().split("\n") ?? [];
  expect([id, others]).toEqual(["id: 1", ["", ""]]);
  expect(JSON.parse(data.replace("data: ", ""))).toEqual(event);
});

test("a chunk has at least one event, and ends with the event that reaches its size", () => {
  const ring = filled(new EventRing(), 10);
  expect(ring.after(0, 1)?.last).toBe(1);
  const one = ring.after(0, 1)?.chunk.length ?? 0;
  expect(ring.after(0, one + 1)?.last).toBe(2);
});

test("the oldest events are removed when there are too many, and the ring says which numbers it still has", () => {
  const ring = filled(new EventRing({ events: 100 }), 5000);
  expect(ring.last).toBe(5000);
  expect([ring.has(4900), ring.has(4899), ring.has(5000), ring.has(5001)]).toEqual([true, false, true, false]);
  expect(numbersIn(ring.after(4900, 1e6)?.chunk ?? Buffer.alloc(0))).toEqual(
    Array.from({ length: 100 }, (_, at) => 4901 + at),
  );
});

test("the oldest events are removed when they are too large together, also a single one", () => {
  const ring = new EventRing({ bytes: 1000 });
  filled(ring, 100);
  const kept = 100 - Array.from({ length: 100 }, (_, at) => at).findIndex((at) => ring.has(at));
  expect(kept).toBeGreaterThan(5);
  expect(ring.after(100 - kept, 1e6)?.chunk.length).toBeLessThanOrEqual(1000);
  ring.add(note("x".repeat(2000)));
  expect([ring.has(100), ring.has(101), ring.last]).toEqual([false, true, 101]);
  ring.add(note("small"));
  expect(numbersIn(ring.after(101, 1e6)?.chunk ?? Buffer.alloc(0))).toEqual([102]);
});

test("the standard limits are 20 000 events", () => {
  const ring = filled(new EventRing(), 20_001);
  expect([ring.has(0), ring.has(1)]).toEqual([false, true]);
});

test("a listener hears of each event until it is removed", () => {
  const ring = new EventRing();
  let heard = 0;
  const stop = ring.onEvent(() => {
    heard += 1;
  });
  filled(ring, 3);
  stop();
  filled(ring, 3);
  expect(heard).toBe(3);
});
