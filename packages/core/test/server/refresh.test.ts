import { scaled } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { ListName } from "../../src/events.ts";
import { Refresh } from "../../src/server/refresh.ts";
import { manualClock } from "../support/manual-clock.ts";

function testRefresh() {
  const clock = manualClock();
  const reads: string[] = [];
  let finish = (_unread: readonly ListName[]): void => {};
  const refresh = new Refresh((lists) => {
    reads.push(`${clock.now()}: ${lists.join(" ")}`);
    return new Promise((resolve) => {
      finish = resolve;
    });
  }, clock);
  const settle = async (...unread: readonly ListName[]): Promise<void> => {
    finish(unread);
    await new Promise(setImmediate);
  };
  return { clock, reads, refresh, settle };
}

test("one change is read at once, and nothing else follows", async () => {
  const { clock, reads, refresh, settle } = testRefresh();
  refresh.start();
  refresh.changed("tools");
  await settle();
  await clock.pass(100_000);
  expect(reads).toEqual(["0: tools"]);
});

test("what changes during the first reading is read after it, and only that", async () => {
  const { reads, refresh } = testRefresh();
  refresh.changed("prompts");
  expect(reads).toEqual([]);
  refresh.start();
  expect(reads).toEqual(["0: prompts"]);
});

test("what changes during a reading is read once more, a second after it", async () => {
  const { clock, reads, refresh, settle } = testRefresh();
  refresh.start();
  refresh.changed("tools");
  const more: readonly ListName[] = ["prompts", "tools", "prompts"];
  for (const list of more) refresh.changed(list);
  await clock.pass(5000);
  expect(reads).toEqual(["0: tools"]);
  await settle();
  await clock.pass(1000);
  expect(reads).toEqual(["0: tools", "6000: prompts tools"]);
});

test("a storm that goes on for half a minute costs five readings; when it is over, the next change is read at once", async () => {
  const { clock, reads, refresh, settle } = testRefresh();
  refresh.start();
  for (let moment = 0; moment < 30_000; moment += 10) {
    for (let notification = 0; notification < scaled(70); notification += 1) refresh.changed("tools");
    await settle();
    await clock.pass(10);
  }
  expect(reads).toEqual(["0: tools", "1000: tools", "3000: tools", "7000: tools", "15000: tools"]);
  await clock.pass(60_000);
  await settle();
  await clock.pass(60_000);
  refresh.changed("tools");
  expect(reads.slice(5)).toEqual(["31000: tools", "150000: tools"]);
});

test("after the end nothing is read", async () => {
  const { clock, reads, refresh, settle } = testRefresh();
  refresh.start();
  refresh.changed("tools");
  refresh.changed("tools");
  await settle();
  refresh.stop();
  refresh.changed("tools");
  await clock.pass(100_000);
  expect(reads).toEqual(["0: tools"]);
});

/** Says in which order promises end. */
function endsOf() {
  const ended: string[] = [];
  return { ended, note: (name: string, work: Promise<void> | undefined) => void work?.then(() => ended.push(name)) };
}

test("a request waits only for its own list, and only if a change of it is unread", async () => {
  const { refresh, settle } = testRefresh();
  refresh.start();
  expect(refresh.upToDate("tools")).toBeUndefined();
  refresh.changed("tools");
  expect(refresh.upToDate("prompts")).toBeUndefined();
  const { ended, note } = endsOf();
  note("during the reading", refresh.upToDate("tools"));
  await settle();
  expect(ended).toEqual(["during the reading"]);
  expect(refresh.upToDate("tools")).toBeUndefined();
});

test("a request does not wait for the end of a pause, and all requests share one reading", async () => {
  const { clock, reads, refresh, settle } = testRefresh();
  refresh.start();
  refresh.changed("tools");
  await settle();
  refresh.changed("tools");
  await clock.pass(10);
  expect(reads).toEqual(["0: tools"]);
  const { ended, note } = endsOf();
  for (const name of ["one", "two", "three"]) note(name, refresh.upToDate("tools"));
  expect(reads).toEqual(["0: tools", "10: tools"]);
  await settle();
  expect(ended).toEqual(["one", "two", "three"]);
  await clock.pass(100_000);
  expect(reads).toHaveLength(2);
});

test("a server that reports changes without end delays a request by no more than two readings", async () => {
  const { reads, refresh, settle } = testRefresh();
  refresh.start();
  refresh.changed("tools");
  const { ended, note } = endsOf();
  refresh.changed("tools");
  note("a", refresh.upToDate("tools"));
  note("b", refresh.upToDate("tools"));
  await settle();
  refresh.changed("tools");
  expect([reads.length, ended.length]).toEqual([2, 0]);
  await settle();
  expect(ended).toEqual(["a", "b"]);
});

test("a request that asks again as soon as a reading ends shares the next reading with those that wait for it", async () => {
  const { reads, refresh, settle } = testRefresh();
  refresh.start();
  refresh.changed("tools");
  const { ended, note } = endsOf();
  void refresh.upToDate("tools")?.then(() => note("again", refresh.upToDate("tools")));
  refresh.changed("tools");
  note("waiting", refresh.upToDate("tools"));
  await settle();
  expect([reads.length, ended.length]).toEqual([2, 0]);
  await settle();
  expect(ended.toSorted()).toEqual(["again", "waiting"]);
  expect(reads).toHaveLength(2);
});

test("a list that could not be read is read for the next request, and not before", async () => {
  const { clock, reads, refresh, settle } = testRefresh();
  refresh.start();
  refresh.changed("tools");
  await settle("tools");
  await clock.pass(100_000);
  expect(reads).toEqual(["0: tools"]);
  const { ended, note } = endsOf();
  note("after a failure", refresh.upToDate("tools"));
  expect(reads).toHaveLength(2);
  await settle();
  expect(ended).toEqual(["after a failure"]);
  expect(refresh.upToDate("tools")).toBeUndefined();
});

test("a request also waits if changes are not followed; closing releases it", async () => {
  const { clock, reads, refresh, settle } = testRefresh();
  refresh.changed("tools");
  const { ended, note } = endsOf();
  note("not followed", refresh.upToDate("tools"));
  refresh.changed("tools");
  note("never read", refresh.upToDate("tools"));
  refresh.stop();
  await settle();
  await clock.pass(100_000);
  expect(ended).toEqual(["not followed", "never read"]);
  expect(reads).toHaveLength(1);
  expect(refresh.upToDate("tools")).toBeUndefined();
});
