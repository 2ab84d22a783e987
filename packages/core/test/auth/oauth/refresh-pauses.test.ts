import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createRefreshPauses, type RefreshPauses } from "../../../src/auth/oauth/refresh-pauses.ts";
import { HostError } from "../../../src/errors.ts";

const error = new HostError("unreachable", "no answer", { serverName: "docs", next: "Try again." });

interface Time {
  now: number;
}

function pausesIn(folder: string, time: Time, random = 1): RefreshPauses {
  return createRefreshPauses(
    folder,
    () => time.now,
    () => random,
  );
}

/** How long, to the millisecond, no process asks after this failure. */
async function lengthOf(pauses: RefreshPauses, time: Time): Promise<number> {
  const begin = time.now;
  while ((await pauses.errorOf("a")) !== undefined) time.now += 250;
  return time.now - begin;
}

test("each pause is twice the last, up to a minute", async () => {
  await using folder = await temporaryFolder();
  const time = { now: 1_000_000 };
  const pauses = pausesIn(folder.path, time);
  const lengths: number[] = [];
  for (let tries = 0; tries < 8; tries += 1) {
    await pauses.begin("a", error, 0);
    lengths.push(await lengthOf(pauses, time));
  }
  expect(lengths).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
});

test("chance takes up to half of it away, of the longest too", async () => {
  await using folder = await temporaryFolder();
  const time = { now: 1_000_000 };
  const pauses = pausesIn(folder.path, time, 0);
  await pauses.begin("a", error, 0);
  expect(await lengthOf(pauses, time)).toBe(500);
  await pauses.begin("b", error, 600_000);
  time.now += 29_999;
  expect(await pauses.errorOf("b")).toBe(error);
  time.now += 1;
  expect(await pauses.errorOf("b")).toBeUndefined();
});

test("after a refresh that failed slowly, the pause is as long as the refresh took", async () => {
  await using folder = await temporaryFolder();
  const time = { now: 1_000_000 };
  const pauses = pausesIn(folder.path, time);
  await pauses.begin("a", error, 10_000);
  expect(await lengthOf(pauses, time)).toBe(10_000);
});

test("another process finds the note, and goes on from it", async () => {
  await using folder = await temporaryFolder();
  const time = { now: 1_000_000 };
  await pausesIn(folder.path, time).begin("a", error, 0);
  const other = pausesIn(folder.path, time);
  const { code, message, serverName, next } = error;
  expect(await other.errorOf("a")).toMatchObject({ code, message, serverName, next });
  expect(await other.errorOf("b")).toBeUndefined();
  await other.begin("a", error, 0);
  expect(await lengthOf(other, time)).toBe(2_000);
});

test("a process whose own pause has ended waits until the longer pause of another process ends", async () => {
  await using folder = await temporaryFolder();
  const time = { now: 1_000_000 };
  const [mine, other] = [pausesIn(folder.path, time), pausesIn(folder.path, time)];
  await mine.begin("a", error, 0);
  await other.begin("a", error, 0);
  time.now += 1_000;
  expect(await mine.errorOf("a")).toMatchObject({ message: error.message });
  time.now += 1_000;
  expect(await mine.errorOf("a")).toBeUndefined();
});

test("a success ends it, for all", async () => {
  await using folder = await temporaryFolder();
  const time = { now: 1_000_000 };
  const pauses = pausesIn(folder.path, time);
  await pauses.begin("a", error, 0);
  await pauses.end("a");
  expect(await pauses.errorOf("a")).toBeUndefined();
  expect(await pausesIn(folder.path, time).errorOf("a")).toBeUndefined();
  await pauses.begin("a", error, 0);
  expect(await lengthOf(pauses, time)).toBe(1_000);
});

const note = { until: 1_000_500, tries: 1, code: "auth_failed", message: "no" };

test.each<[string, object | string, boolean]>([
  ["as they are written", note, true],
  ["of another clock", { ...note, until: 1_060_001 }, false],
  ["of a clock that is just not too far away", { ...note, until: 1_060_000 }, true],
  ["with a code that no refresh fails with", { ...note, code: "denied" }, false],
  ["without words", { ...note, message: "" }, false],
  ["without an end", { ...note, until: "soon" }, false],
  ["without a count", { ...note, tries: null }, false],
  ["that are no notes", ["a"], false],
  ["that are not even JSON", "{", false],
])("notes %s", async (_, content, counts) => {
  await using folder = await temporaryFolder();
  await folder.write("a.failed.json", content);
  expect((await pausesIn(folder.path, { now: 1_000_000 }).errorOf("a")) !== undefined).toBe(counts);
});

test.each(["unreachable", "http_status", "auth_failed"] as const)(
  "another process reads the pause after an error with the code %s",
  async (code) => {
    await using folder = await temporaryFolder();
    const time = { now: 1_000_000 };
    const failed = new HostError(code, "no");
    await pausesIn(folder.path, time).begin("a", failed, 0);
    expect(await pausesIn(folder.path, time).errorOf("a")).toEqual(failed);
  },
);
