import { scaled } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { ListName } from "../../../src/events.ts";
import { createRefresh } from "../../../src/mcp/recovery/refresh.ts";
import { manualClock } from "../../support/manual-clock.ts";

function testRefresh() {
  const clock = manualClock();
  const reads: string[] = [];
  let finish = (): void => {};
  const refresh = createRefresh({
    clock,
    read(lists) {
      reads.push(`${clock.now()}: ${lists.join(" ")}`);
      return new Promise((resolve) => {
        finish = resolve;
      });
    },
  });
  const settle = async (): Promise<void> => {
    finish();
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
