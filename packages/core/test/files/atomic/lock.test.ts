import { existsSync } from "node:fs";
import { mkdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { withLock } from "../../../src/files/atomic/lock.ts";
import { expectRefusal } from "../../support/expect-refusal.ts";

test("who comes second waits until the first has finished", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "file");
  const order: string[] = [];
  let finish = () => {};
  let begun = () => {};
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const first = withLock(file, async () => {
    begun();
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    order.push("first");
  });
  await isBegun;
  const second = withLock(file, async () => order.push("second"));
  finish();
  await Promise.all([first, second]);
  expect(order).toEqual(["first", "second"]);
  expect(existsSync(`${file}.lock`)).toBe(false);
});

test("the lock is released when the work fails", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "file");
  const failure = new Error("no");
  await expect(withLock(file, () => Promise.reject(failure))).rejects.toBe(failure);
  expect(await withLock(file, async () => "free")).toBe("free");
});

test("a lock whose owner has given no sign of life is taken over", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "file");
  await mkdir(`${file}.lock`);
  const longAgo = new Date(Date.now() - 11_000);
  await utimes(`${file}.lock`, longAgo, longAgo);
  expect(await withLock(file, async () => "ours", { timeout: 0 })).toBe("ours");
});

test("a lock that is not given back ends in an error that names the file and the way out", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "file");
  const inside = withLock(file, () => withLock(file, async () => "never", { timeout: 100 }));
  await expectRefusal(inside, {
    code: "busy",
    message: `another program is writing to ${file} and does not finish; nothing was changed`,
    next: `Try again. If no other program uses the file, remove the folder ${file}.lock first.`,
  });
});

test("what can never succeed is not repeated", async () => {
  await using folder = await temporaryFolder();
  const file = join(await folder.write("not-a-folder", ""), "file");
  await expect(withLock(file, async () => "never", { timeout: Number.POSITIVE_INFINITY })).rejects.toMatchObject({
    code: "ENOTDIR",
  });
});

test("a lock that was taken away meanwhile harms nobody", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "file");
  const { rmdir } = await import("node:fs/promises");
  const result = await withLock(file, async () => {
    await rmdir(`${file}.lock`);
    return "done";
  });
  expect(result).toBe("done");
});
