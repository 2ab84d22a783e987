import { describe, expect, test } from "vitest";
import { withTimeLeft } from "../../src/eras/input-rounds.ts";
import { coalesce } from "../../src/rpc/notifications.ts";
import { settledWithin, systemTime, uptime, within } from "../../src/rpc/time.ts";
import { failure } from "../support/memory-server.ts";

/** How many timers keep the process alive. */
const timers = (): number => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;

describe("the system's time", () => {
  test("is in milliseconds and never goes back", () => {
    const before = process.uptime() * 1000;
    const [one, two] = [systemTime.now(), uptime()];
    const after = process.uptime() * 1000;
    expect([one >= before, two >= one, after >= two]).toEqual([true, true, true]);
  });

  test("has timers that keep the process alive, unless they are in the background", () => {
    const before = timers();
    const callOff = systemTime.after(60_000, () => undefined);
    expect(timers()).toBe(before + 1);
    callOff();
    const called = [
      systemTime.after(60_000, () => undefined, { background: true }),
      systemTime.after(60_000, () => undefined, { background: false }),
    ];
    expect(timers()).toBe(before + 1);
    for (const each of called) each();
    expect(timers()).toBe(before);
  });

  test("calls an action unless it was called off", async () => {
    const called: string[] = [];
    systemTime.after(0, () => void called.push("no"))();
    await new Promise<void>((resolve) => void systemTime.after(1, resolve));
    expect(called).toEqual([]);
  });
});

test("the timer that combines notifications keeps no process alive", () => {
  const before = timers();
  const { push, stop } = coalesce<string>(60_000, () => undefined);
  push("tools", "one");
  push("tools", "two");
  expect(timers()).toBe(before);
  stop();
});

describe("a promise with a limit in time", () => {
  const never = new Promise<string>(() => undefined);

  test("gives its value if it is in time, and leaves no timer", async () => {
    const before = timers();
    expect(await within(Promise.resolve("value"), 60_000)).toBe("value");
    expect(await settledWithin(Promise.resolve(false), 60_000)).toBe(true);
    expect(await settledWithin(Promise.resolve(undefined), 60_000)).toBe(true);
    expect(timers()).toBe(before);
  });

  test("gives nothing if it is late", async () => {
    expect(await within(never, 0)).toBeUndefined();
    expect(await settledWithin(never, 0)).toBe(false);
  });

  test("fails if it fails in time, and leaves no timer", async () => {
    const before = timers();
    const error = new Error("no");
    await expect(within(Promise.reject(error), 60_000)).rejects.toBe(error);
    await expect(settledWithin(Promise.reject(error), 60_000)).rejects.toBe(error);
    expect(timers()).toBe(before);
  });
});

describe("the time that is left of a total limit", () => {
  test("is the limit without what was spent", () => {
    const options = { total: 100, timeout: 7 };
    expect(withTimeLeft(options, 0, "x")).toEqual({ total: 100, timeout: 7 });
    expect(withTimeLeft(options, 99, "x")).toEqual({ total: 1, timeout: 7 });
    const unlimited = { timeout: 7 };
    expect(withTimeLeft(unlimited, 1000, "x")).toBe(unlimited);
  });

  test.each([100, 101])("is none after %d of 100 ms", async (spent) => {
    const error = await failure(Promise.resolve().then(() => withTimeLeft({ total: 100 }, spent, "x")));
    expect([error.code, error.message, error.evidence]).toEqual([
      "timeout",
      "x timed out: the total time limit is reached",
      { step: "x" },
    ]);
  });
});
