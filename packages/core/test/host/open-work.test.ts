import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createOpenWork } from "../../src/host/open-work.ts";

function untilAborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(signal.reason), { once: true }));
}

test("closing aborts the controller of work that has its own", async () => {
  const work = createOpenWork();
  const stop = new AbortController();
  const run = work.runStopped(({ signal }) => untilAborted(signal), stop);
  await work.close();
  expect(await run).toMatchObject({ code: "cancelled" });
});

test("closing aborts no controller of work that has ended", async () => {
  const work = createOpenWork();
  const stop = new AbortController();
  await work.runStopped(async () => undefined, stop);
  await work.close();
  expect(stop.signal.aborted).toBe(false);
});

test("work without the controller has a signal of its own, and leaves no listener", async () => {
  const work = createOpenWork();
  const { signal } = new AbortController();
  let given: AbortSignal | undefined;
  await work.run(async (own) => {
    given = own;
  }, signal);
  expect(given).not.toBe(signal);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});
