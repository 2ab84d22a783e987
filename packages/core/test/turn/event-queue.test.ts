import { expect, test } from "vitest";
import { EventQueue } from "../../src/turn/calls.ts";
import type { TurnEvent } from "../../src/turn/events.ts";

const progress = (id: string, step: number): TurnEvent => ({ type: "progress", id, progress: step });
const note = (message: string): TurnEvent => ({ type: "note", message });

test("events come in their order; of progress that the caller has not read, the latest of a call is enough", async () => {
  const queue = new EventQueue();
  for (let step = 1; step <= 1000; step += 1) queue.push(progress("a", step));
  queue.push(note("between"));
  queue.push(progress("a", 1001));
  queue.push(progress("b", 1));
  queue.end();
  const seen: TurnEvent[] = [];
  for await (const event of queue) seen.push(event);
  expect(seen).toEqual([progress("a", 1000), note("between"), progress("a", 1001), progress("b", 1)]);
});

test("a waiting reader is woken by the next event, and by the end", async () => {
  const queue = new EventQueue();
  const events = queue[Symbol.asyncIterator]();
  const first = events.next();
  queue.push(note("one"));
  expect(await first).toEqual({ done: false, value: note("one") });
  const last = events.next();
  queue.end();
  expect(await last).toEqual({ done: true, value: undefined });
});
