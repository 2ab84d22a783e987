import { WireError } from "@fairlead/wire";
import { expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import { sendRead } from "../../src/execute/repeat.ts";
import { manualClock } from "../support/manual-clock.ts";

const lost = new HostError("lost", "s: lost");
const busy = new HostError("http_status", "s is busy", {
  cause: new WireError("http_status", "busy", { httpStatus: 503, retryAfter: "2" }),
});
const denied = new HostError("denied", "s: denied");

/** Sends a read whose first attempt fails with this error; notes what was sent to which client, and with what time left. */
function reading(error: unknown, { isStill = true, total = 60_000, timeout = 60_000, takes = 0, isUp = true } = {}) {
  const clock = manualClock();
  let now = 1_000_000;
  const cancel = new AbortController();
  const sent: unknown[] = [];
  const result = sendRead(
    "first",
    async (client, times) => {
      sent.push([client, times.total]);
      if (sent.length > 1) return "read";
      now += takes;
      throw error;
    },
    { signal: cancel.signal, timeout, total },
    {
      reconnect: async () => {
        if (!isUp) throw new Error("still down");
        return "second";
      },
      isStill: (client) => client === "second" && isStill,
      clock: { ...clock, now: () => now + clock.now() },
    },
  );
  const settled = result.then(
    (value) => value,
    (failure: unknown) => failure,
  );
  return { clock, cancel, sent, settled };
}

test("a lost read is sent again at once, to the server that was connected again", async () => {
  const { sent, settled } = reading(lost);
  expect(await settled).toBe("read");
  expect(sent).toEqual([
    ["first", 60_000],
    ["second", 60_000],
  ]);
});

test.each([
  [1_500, 58_500],
  [59_999, 1],
  [70_000, 1],
])("a read that is lost after %i ms has %i ms left", async (takes, left) => {
  const { sent, settled } = reading(lost, { takes });
  expect(await settled).toBe("read");
  expect(sent.at(-1)).toEqual(["second", left]);
});

test.each([
  ["unreachable", true, 2],
  ["server_exited", true, 2],
  ["denied", true, 1],
  ["unreachable", false, 1],
  ["server_exited", false, 1],
  ["lost", false, 2],
] as const)("a read that fails as %s, certainly unsent: %j, is sent %i times", async (code, unsent, times) => {
  const error = new HostError(code, "s failed", { cause: new WireError("closed", "gone", { unsent }) });
  const { sent, settled } = reading(error);
  expect(await settled).toBe(times === 2 ? "read" : error);
  expect(sent).toHaveLength(times);
});

test("a lost read whose server does not come back fails as it did first", async () => {
  const { sent, settled } = reading(lost, { isUp: false });
  expect(await settled).toBe(lost);
  expect(sent).toHaveLength(1);
});

test("a read that is cancelled while it runs is not sent again", async () => {
  const stop = new AbortController();
  const sent: string[] = [];
  const send = async (client: string): Promise<never> => {
    sent.push(client);
    stop.abort();
    throw lost;
  };
  const ports = { reconnect: async () => "second", isStill: () => true, clock: manualClock() };
  const read = sendRead("first", send, { signal: stop.signal, timeout: 10, total: 10 }, ports);
  await expect(read).rejects.toBe(lost);
  expect(sent).toEqual(["first"]);
});

test("a read from a busy server is sent again after the pause that the server asks for, with the time that is left", async () => {
  const { clock, sent, settled } = reading(busy);
  await clock.pass(1_999);
  expect(sent).toHaveLength(1);
  await clock.pass(1);
  expect(await settled).toBe("read");
  expect(sent.at(-1)).toEqual(["second", 58_000]);
});

test("a pause that is longer than the time for the read is not waited for", async () => {
  for (const limits of [{ total: 2_000 }, { timeout: 2_000 }]) {
    const { sent, settled } = reading(busy, limits);
    expect(await settled).toBe(busy);
    expect(sent).toHaveLength(1);
  }
});

test("a read that is cancelled during the pause is not sent again", async () => {
  const { cancel, sent, settled, clock } = reading(busy);
  await clock.pass(1);
  cancel.abort();
  expect(await settled).toMatchObject({
    code: "cancelled",
    message: "s is busy; the request was cancelled before it was sent again",
    cause: busy,
  });
  expect(sent).toHaveLength(1);
});

test.each([
  ["another failure", denied, true],
  ["an unexpected error", new TypeError("boom"), true],
  ["a lost read whose server or item has changed", lost, false],
])("not sent again: %s", async (_, error, isStill) => {
  const { sent, settled } = reading(error, { isStill });
  expect(await settled).toBe(error);
  expect(sent).toHaveLength(1);
});
