import { expect, test } from "vitest";
import { unlessAborted } from "../src/unless-aborted.ts";

const left = new Error("left");
const why = () => left;

test("what is waited for comes, or fails, unchanged", async () => {
  const { signal } = new AbortController();
  expect(await unlessAborted(Promise.resolve(7), signal, why)).toBe(7);
  expect(await unlessAborted(Promise.resolve(7), undefined, why)).toBe(7);
  await expect(unlessAborted(Promise.reject(new Error("failed")), signal, why)).rejects.toThrow("failed");
});

test("a caller whose signal is aborted gets the reason, before or while waiting; a later failure is ignored", async () => {
  const stop = new AbortController();
  let fail: (error: Error) => void = () => {};
  const shared = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const leaving = unlessAborted(shared, stop.signal, why);
  stop.abort();
  await expect(leaving).rejects.toBe(left);
  await expect(unlessAborted(shared, stop.signal, why)).rejects.toBe(left);
  fail(new Error("later"));
  await new Promise(setImmediate);
});
