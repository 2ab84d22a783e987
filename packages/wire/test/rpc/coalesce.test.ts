import { expect, test } from "vitest";
import { type Coalesced, coalesce } from "../../src/rpc/notifications.ts";

/** Timers of the same delay ring in the order in which they were set, so this outlasts every window of 1 ms before it. */
function windowOver(): Promise<void> {
  return new Promise((resolve) => {
    const other: Coalesced<() => void> = coalesce(1, (news) => news());
    other.push("end", () => {});
    other.push("end", () => {
      resolve();
      other.stop();
    });
  });
}

test("the first news is told at once, a storm behind it once more, with the latest", async () => {
  const told: number[] = [];
  const { push, stop } = coalesce<number>(1, (news) => void told.push(news));
  for (let news = 1; news <= 20_000; news += 1) push("tools", news);
  expect(told).toEqual([1]);
  await windowOver();
  expect(told).toEqual([1, 20_000]);
  stop();
});

test("different news do not wait for each other", () => {
  const told: string[] = [];
  const { push, stop } = coalesce<string>(60_000, (news) => void told.push(news));
  push("tools", "tools 1");
  push("prompts", "prompts 1");
  push("tools", "tools 2");
  expect(told).toEqual(["tools 1", "prompts 1"]);
  stop();
});

test("after a quiet window the next news is told at once again", async () => {
  const told: number[] = [];
  const { push, stop } = coalesce<number>(1, (news) => void told.push(news));
  push("tools", 1);
  await windowOver();
  push("tools", 2);
  expect(told).toEqual([1, 2]);
  stop();
});

test("what waits is forgotten when it is stopped", async () => {
  const told: number[] = [];
  const { push, stop } = coalesce<number>(1, (news) => void told.push(news));
  push("tools", 1);
  push("tools", 2);
  stop();
  await windowOver();
  expect(told).toEqual([1]);
});

test("what waits can be asked for, and is not told twice", () => {
  const told: number[] = [];
  const { push, flush, stop } = coalesce<number>(60_000, (news) => void told.push(news));
  flush();
  for (const news of [1, 2, 3]) push("tools", news);
  flush();
  flush();
  expect(told).toEqual([1, 3]);
  push("tools", 4);
  expect(told).toEqual([1, 3]);
  stop();
});
