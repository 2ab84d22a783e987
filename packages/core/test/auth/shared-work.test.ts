import { expect, test } from "vitest";
import { createSharedWork } from "../../src/auth/auth-hook.ts";

const forever = (signal: AbortSignal): Promise<string> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("called off"))));

test("all who come meanwhile get what the first began", async () => {
  const join = createSharedWork<number>();
  let runs = 0;
  const work = async (): Promise<number> => {
    runs += 1;
    await Promise.resolve();
    return runs;
  };
  const { signal } = new AbortController();
  expect(await Promise.all([join(work, signal), join(work, signal)])).toEqual([1, 1]);
  expect(await join(work, signal)).toBe(2);
});

test("who leaves leaves alone; when the last has left it is called off", async () => {
  const join = createSharedWork<string>();
  const [first, second] = [new AbortController(), new AbortController()];
  let given: AbortSignal | undefined;
  const work = (signal: AbortSignal): Promise<string> => {
    given = signal;
    return forever(signal);
  };
  const both = [join(work, first.signal), join(work, second.signal)];
  first.abort(new Error("I leave"));
  await expect(both[0]).rejects.toThrow("I leave");
  expect(given?.aborted).toBe(false);
  second.abort(new Error("me too"));
  await expect(both[1]).rejects.toThrow("me too");
  expect(given?.aborted).toBe(true);
});

test("a failure is told to all, and the next one begins anew", async () => {
  const join = createSharedWork<string>();
  const { signal } = new AbortController();
  const failing = (): Promise<string> => Promise.reject(new Error("no"));
  const both = await Promise.allSettled([join(failing, signal), join(failing, signal)]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await join(async () => "yes", signal)).toBe("yes");
});
