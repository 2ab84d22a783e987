import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, rmdir, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { canMount, smallDisk, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { withLock } from "../../../src/files/atomic/lock.ts";
import { lockHolder } from "../../../src/files/atomic/lock-owner.ts";
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
    next: `Try again. If no other program uses the file, remove ${file}.lock and ${file}.lock-owner first.`,
  });
});

test("what can never succeed is not repeated", async () => {
  await using folder = await temporaryFolder();
  const file = join(await folder.write("not-a-folder", ""), "file");
  await expect(withLock(file, async () => "never", { timeout: Number.POSITIVE_INFINITY })).rejects.toMatchObject({
    code: "ENOTDIR",
  });
});

test.runIf(canMount())(
  "a lock that cannot be released, because the disk is read-only at that moment, is free again soon after",
  async () => {
    await using disk = await smallDisk();
    const file = join(disk.path, "file");
    const done = await withLock(file, async () => {
      await disk.setReadOnly(true);
      return "done";
    });
    expect([done, await lockHolder(file)]).toEqual(["done", process.pid]);
    await disk.setReadOnly(false);
    // This process goes on, and is not asked to remove its lock.
    expect(await withLock(file, async () => "free")).toBe("free");
  },
);

test("a lock that was taken away meanwhile fails no caller", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "file");
  const result = await withLock(file, async () => {
    await rmdir(`${file}.lock`);
    return "done";
  });
  expect(result).toBe("done");
});

describe("the note of a lock's owner", () => {
  /** A lock that another process has left; its note says what `change` makes of it. */
  async function leftLock(folder: TemporaryFolder, change: (note: Record<string, unknown>) => object): Promise<string> {
    const file = join(folder.path, "file");
    let note = {};
    let mode = 0;
    await withLock(file, async () => {
      note = JSON.parse(await folder.read("file.lock-owner")) as object;
      ({ mode } = await stat(`${file}.lock`));
    });
    await mkdir(`${file}.lock`, mode & 0o777);
    await folder.write("file.lock-owner", JSON.stringify(change(note)));
    return file;
  }

  /** The number of a process that has ended. */
  async function endedProcess(): Promise<number> {
    const child = spawn("/bin/sh", ["-c", ":"]);
    await once(child, "exit");
    return child.pid ?? 0;
  }

  test.each([
    ["the same", {}, true],
    ["that of another machine", { host: "another" }, false],
    ["that of an earlier start of the machine", { boot: "another" }, false],
    ["that of another container", { processes: "another" }, false],
    ["that of a process which had the same number before", { start: "1" }, false],
  ])("names the holder only if it is this process: %s", async (_, change, isHeld) => {
    await using folder = await temporaryFolder();
    const file = await leftLock(folder, (note) => ({ ...note, ...change }));
    expect(await lockHolder(file)).toBe(isHeld ? process.pid : undefined);
  });

  test("names no holder for a process that has ended, or without a note", async () => {
    await using folder = await temporaryFolder();
    expect(await lockHolder(join(folder.path, "file"))).toBeUndefined();
    const pid = await endedProcess();
    expect(await lockHolder(await leftLock(folder, (note) => ({ ...note, pid })))).toBeUndefined();
  });

  test("is there while the lock is held, and gone afterwards", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "file");
    await withLock(file, async () => {
      expect(JSON.parse(await folder.read("file.lock-owner"))).toMatchObject({ pid: process.pid });
    });
    expect(await readdir(folder.path)).toEqual([]);
  });

  test("of a process that has ended gives the lock away at once", async () => {
    await using folder = await temporaryFolder();
    const pid = await endedProcess();
    const file = await leftLock(folder, (note) => ({ ...note, pid }));
    expect(await withLock(file, async () => "ours", { timeout: 0 })).toBe("ours");
    expect(await readdir(folder.path)).toEqual([]);
  });

  test("of a process whose number another one has now, too", async () => {
    await using folder = await temporaryFolder();
    const file = await leftLock(folder, (note) => ({ ...note, start: "1" }));
    expect(await withLock(file, async () => "ours", { timeout: 0 })).toBe("ours");
  });

  test.each<[string, (note: Record<string, unknown>) => object]>([
    ["of another machine", (note) => ({ ...note, host: "another" })],
    ["of an earlier start of the machine", (note) => ({ ...note, boot: "another" })],
    ["of another container", (note) => ({ ...note, processes: "pid:[1]" })],
    ["without a start time", (note) => ({ ...note, start: "" })],
    ["that is damaged", () => ({})],
  ])("%s counts as long as there are signs of life", async (_, change) => {
    await using folder = await temporaryFolder();
    const file = await leftLock(folder, change);
    const longAgo = new Date(Date.now() - 11_000);
    await utimes(`${file}.lock-owner`, longAgo, longAgo);
    await expect(withLock(file, async () => "never", { timeout: 0 })).rejects.toMatchObject({ code: "busy" });
    await utimes(`${file}.lock`, longAgo, longAgo);
    expect(await withLock(file, async () => "ours", { timeout: 0 })).toBe("ours");
  });

  test("of a process that runs counts also without signs of life", async () => {
    await using folder = await temporaryFolder();
    const file = await leftLock(folder, (note) => note);
    const longAgo = new Date(Date.now() - 60_000);
    for (const path of [`${file}.lock-owner`, `${file}.lock`]) await utimes(path, longAgo, longAgo);
    await expect(withLock(file, async () => "never", { timeout: 0 })).rejects.toMatchObject({ code: "busy" });
  });

  test("of a process that was killed before it had the folder gives the lock away at once", async () => {
    await using folder = await temporaryFolder();
    const pid = await endedProcess();
    const file = await leftLock(folder, (note) => ({ ...note, pid }));
    await rmdir(`${file}.lock`);
    expect(await withLock(file, async () => "ours", { timeout: 0 })).toBe("ours");
    expect(await readdir(folder.path)).toEqual([]);
  });

  test("of a process that was killed leaves another program its lock", async () => {
    await using folder = await temporaryFolder();
    const pid = await endedProcess();
    const file = await leftLock(folder, (note) => ({ ...note, pid }));
    await rmdir(`${file}.lock`);
    await mkdir(`${file}.lock`);
    await expect(withLock(file, async () => "never", { timeout: 0 })).rejects.toMatchObject({ code: "busy" });
    expect(await readdir(folder.path)).toEqual(["file.lock"]);
  });

  test("of a process that was killed while it removed the record of another one is removed too", async () => {
    await using folder = await temporaryFolder();
    const pid = await endedProcess();
    const file = await leftLock(folder, (note) => ({ ...note, pid }));
    for (const claim of ["-claim", "-claim-claim"]) await copyFile(`${file}.lock-owner`, `${file}.lock-owner${claim}`);
    expect(await withLock(file, async () => "ours", { timeout: 0 })).toBe("ours");
    expect(await readdir(folder.path)).toEqual([]);
  });

  test.each<[string, (note: Record<string, unknown>) => object]>([
    ["of this very process", (note) => note],
    ["of another machine", (note) => ({ ...note, pid: 999_999_999, host: "another" })],
    ["of another container", (note) => ({ ...note, pid: 999_999_999, processes: "pid:[1]" })],
    ["that is damaged", () => ({ pid: 999_999_999 })],
    ["that names no process", (note) => ({ ...note, pid: -1, start: "1" })],
  ])("%s takes no lock away", async (_, change) => {
    await using folder = await temporaryFolder();
    const file = await leftLock(folder, change);
    await expect(withLock(file, async () => "never", { timeout: 0 })).rejects.toMatchObject({ code: "busy" });
  });

  test("lets only one of many take over at a time", async () => {
    await using folder = await temporaryFolder();
    const pid = await endedProcess();
    const file = await leftLock(folder, (note) => ({ ...note, pid }));
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 12 }, () => withLock(file, work)));
    expect(most).toBe(1);
    expect(await readdir(folder.path)).toEqual([]);
  });
});
