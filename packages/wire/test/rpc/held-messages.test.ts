import { expect, test } from "vitest";
import { LargeMessages } from "../../src/rpc/large-messages.ts";
import { turn } from "../support/collected.ts";
import { stoppedTime } from "../support/simulated-time.ts";

const megabyte = 1024 * 1024;

function scene() {
  const time = stoppedTime();
  const large = new LargeMessages({ limit: 4 * megabyte, time });
  /** A message of which so many megabytes have arrived. */
  function held(megabytes: number) {
    const message = large.begin();
    message.hold(megabytes * megabyte);
    return message;
  }
  return { time, large, held };
}

/** Whether a promise has settled by the next turn of the loop. */
async function isOver(promise: Promise<void> | undefined): Promise<boolean> {
  let isSettled = promise === undefined;
  void promise?.then(() => {
    isSettled = true;
  });
  await turn();
  return isSettled;
}

test("the first large message never waits, however large it is", () => {
  const { held } = scene();
  expect(held(64).turn()).toBeUndefined();
});

test("large messages are read side by side below the limit", () => {
  const { held } = scene();
  expect(held(2).turn()).toBeUndefined();
  expect(held(1.9).turn()).toBeUndefined();
});

test("a message below 128 KiB never waits, a larger one does", () => {
  const { held } = scene();
  const first = held(4);
  expect(held(0.124).turn()).toBeUndefined();
  expect(held(0.125).turn()).toBeInstanceOf(Promise);
  first.release();
});

test("a later message waits until an earlier one is released", async () => {
  const { held, time } = scene();
  const first = held(4);
  const second = held(1).turn();
  expect(await isOver(second)).toBe(false);
  first.release();
  expect(await isOver(second)).toBe(true);
  expect(time.left()).toEqual([]);
});

test("if the limit is still reached, only the next in order goes on", async () => {
  const { held } = scene();
  const first = held(4);
  const second = held(4);
  const turns = [second.turn(), held(1).turn()];
  first.release();
  expect(await isOver(turns[0])).toBe(true);
  expect(await isOver(turns[1])).toBe(false);
  second.release();
  expect(await isOver(turns[1])).toBe(true);
});

test("a message that waits and is released waits no longer, and its bytes no longer count", async () => {
  const { held } = scene();
  const first = held(2);
  const given = held(2);
  const other = held(1);
  const turns = [given.turn(), other.turn()];
  given.release();
  expect(await isOver(turns[0])).toBe(true);
  expect(await isOver(turns[1])).toBe(true);
  first.release();
});

test("a message that does not end loses the first place to the next one, and gets the last place when more arrives", async () => {
  const { held, time } = scene();
  const stalled = held(4);
  const second = held(1);
  const third = held(1);
  const turns = [second.turn(), third.turn()];
  time.advance(1999);
  expect(await isOver(turns[0])).toBe(false);
  time.advance(1);
  expect(await isOver(turns[0])).toBe(true);
  expect(await isOver(turns[1])).toBe(false);
  second.release();
  expect(await isOver(turns[1])).toBe(true);
  // Nobody waits, so the third keeps its place for any time.
  time.advance(60_000);
  stalled.hold(4.1 * megabyte);
  const again = stalled.turn();
  expect(await isOver(again)).toBe(false);
  third.release();
  expect(await isOver(again)).toBe(true);
});

test("each message has the first place for its own time", async () => {
  const { held, time } = scene();
  const first = held(4);
  const second = held(1).turn();
  time.advance(1500);
  const third = held(1).turn();
  first.release();
  expect(await isOver(second)).toBe(true);
  expect(await isOver(third)).toBe(true);
  const stalled = held(4);
  const next = held(1).turn();
  time.advance(1500);
  expect(await isOver(next)).toBe(false);
  stalled.release();
});
