import { expect, test } from "vitest";
import { StartLimit } from "../../src/server/connection-group.ts";
import { manualClock } from "../support/manual-clock.ts";

/** Enters under these names and notes who got in. */
function door(limit: number) {
  const clock = manualClock();
  const places = new StartLimit(limit, clock);
  const inside: string[] = [];
  const leave = new Map<string, () => void>();
  async function enter(name: string, signal: AbortSignal = new AbortController().signal): Promise<void> {
    leave.set(name, await places.acquire(signal));
    inside.push(name);
  }
  return { clock, inside, enter, leave: (name: string) => leave.get(name)?.() };
}

const turn = () => new Promise(setImmediate);

test("as many as there are places get in, the others in their order as places become free", async () => {
  const { inside, enter, leave } = door(2);
  const all = Promise.all(["a", "b", "c", "d"].map((name) => enter(name)));
  await turn();
  expect(inside).toEqual(["a", "b"]);
  leave("b");
  leave("b");
  await turn();
  expect(inside).toEqual(["a", "b", "c"]);
  leave("a");
  await all;
  expect(inside).toEqual(["a", "b", "c", "d"]);
});

test("a start that takes too long passes its place on, and only one, however late it leaves", async () => {
  const { clock, inside, enter, leave } = door(1);
  const all = Promise.all(["slow", "b", "c"].map((name) => enter(name)));
  await clock.pass(1999);
  expect(inside).toEqual(["slow"]);
  await clock.pass(1);
  expect(inside).toEqual(["slow", "b"]);
  leave("slow");
  await turn();
  expect(inside).toEqual(["slow", "b"]);
  leave("b");
  await all;
});

test("a start that stops waiting takes no place", async () => {
  const { inside, enter, leave } = door(1);
  const stop = new AbortController();
  await enter("a");
  const waiting = expect(enter("b", stop.signal)).rejects.toBe("enough");
  const next = enter("c");
  stop.abort("enough");
  await waiting;
  leave("a");
  await next;
  expect(inside).toEqual(["a", "c"]);
  await expect(enter("d", AbortSignal.abort("too late"))).rejects.toBe("too late");
});
