import { expect, test } from "vitest";
import { createSharedWork } from "../../src/auth/auth-hook.ts";

const forever = (signal: AbortSignal): Promise<string> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("called off"))));

test("all who come meanwhile get what the first began", async () => {
  const shared = createSharedWork<number>();
  let runs = 0;
  const work = async (): Promise<number> => {
    runs += 1;
    await Promise.resolve();
    return runs;
  };
  const { signal } = new AbortController();
  expect(await Promise.all([shared.join(work, signal), shared.join(work, signal)])).toEqual([1, 1]);
  expect(await shared.join(work, signal)).toBe(2);
});

test("who leaves leaves alone; when the last has left it is called off", async () => {
  const shared = createSharedWork<string>();
  const [first, second] = [new AbortController(), new AbortController()];
  let given: AbortSignal | undefined;
  const work = (signal: AbortSignal): Promise<string> => {
    given = signal;
    return forever(signal);
  };
  const both = [shared.join(work, first.signal), shared.join(work, second.signal)];
  first.abort(new Error("I leave"));
  await expect(both[0]).rejects.toThrow("I leave");
  expect(given?.aborted).toBe(false);
  second.abort(new Error("me too"));
  await expect(both[1]).rejects.toThrow("me too");
  expect(given?.aborted).toBe(true);
});

test("a failure is told to all, and the next one begins anew", async () => {
  const shared = createSharedWork<string>();
  const { signal } = new AbortController();
  const failing = (): Promise<string> => Promise.reject(new Error("no"));
  const both = await Promise.allSettled([shared.join(failing, signal), shared.join(failing, signal)]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await shared.join(async () => "yes", signal)).toBe("yes");
});
