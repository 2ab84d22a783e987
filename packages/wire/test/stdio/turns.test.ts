import { describe, expect, test } from "vitest";
import type { WireError } from "../../src/errors.ts";
import { lineCost } from "../../src/rpc/read-budget.ts";
import { openStdio } from "../../src/stdio/stdio.ts";
import { defaultLimits, defaultTimes, type WireLimits } from "../../src/target.ts";
import { turn } from "../support/collected.ts";
import { recorder } from "../support/recorder.ts";
import { stoppedTime } from "../support/simulated-time.ts";
import { openServer, script, stays } from "../support/stdio-server.ts";

const notification = '{"jsonrpc":"2.0","method":"n"}\n';
/** A line of a program: writes the text for ever, as fast as the pipe is read. */
const floods = (descriptor: 1 | 2, text: string): string =>
  `const text = ${JSON.stringify(text)}.repeat(1000); for (;;) require("node:fs").writeSync(${descriptor}, text);`;

/** A flooding server, read by a clock that stands still. Its messages count as notifications. */
async function flooding(code: string, limits: Partial<WireLimits> = {}) {
  const time = stoppedTime();
  const events = recorder();
  let stderr = 0;
  const channel = await openStdio(script(code), {
    limits: { ...defaultLimits, turnLines: 20, ...limits },
    times: { ...defaultTimes, flood: 1000, endGrace: 0, termGrace: 100 },
    time,
    onStderr: (text) => {
      stderr += text.length;
    },
  })(
    {
      ...events,
      message(message, size) {
        events.message(message, size);
        return "notifications";
      },
    },
    new AbortController().signal,
  );
  /** Resolves when the server has to wait for its rate. */
  async function throttled(): Promise<void> {
    while (time.left().length === 0) await turn();
  }
  /** Lets time pass whenever the server has to wait; returns why it was disconnected. */
  async function flooded(): Promise<WireError | undefined> {
    const end = { isOver: false };
    void events.over.then(() => {
      end.isOver = true;
    });
    for (;;) {
      while (time.left().length === 0 && !end.isOver) await turn();
      if (end.isOver) return events.over;
      time.advance(time.left()[0] ?? 0);
    }
  }
  return { ...events, time, throttled, flooded, stderr: () => stderr, [Symbol.asyncDispose]: () => channel.close() };
}

describe("a server that floods", () => {
  test("is read in turns, and what another server says is heard in between", async () => {
    const lines = 3000;
    const code = `process.stdout.write(${JSON.stringify(notification)}.repeat(${lines})); ${stays}`;
    let turns = 0;
    let inThisTurn = 0;
    let most = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      inThisTurn = 0;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await using server = await openServer(script(code), {
      limits: { turnLines: 20 },
      onMessage() {
        inThisTurn += 1;
        most = Math.max(most, inThisTurn);
      },
    });
    await server.arrived(lines);
    isOver = true;
    // A turn's budget may be spent once before and once after the counter's own turn.
    expect(most).toBeLessThanOrEqual(40);
    expect(turns).toBeGreaterThanOrEqual(lines / 40);
  });

  test("and exits has all lines delivered that it wrote before", async () => {
    const code = `process.stdout.write(${JSON.stringify(notification)}.repeat(900));`;
    await using server = await openServer(script(code), { limits: { turnLines: 5 } });
    expect(await server.closed).toMatchObject({ code: "exited" });
    expect(server.messages).toHaveLength(900);
  });

  test("with messages has its burst, then its rate, and then is disconnected", async () => {
    const burst = { unsolicitedBurst: 100 * lineCost, unsolicitedRate: 10 * lineCost };
    await using server = await flooding(floods(1, notification), burst);
    await server.throttled();
    expect(server.messages).toHaveLength(101);
    server.time.advance(500);
    await server.throttled();
    // Half a second of its rate, and never more than one line over it.
    expect(server.messages.length).toBeGreaterThan(101);
    expect(server.messages.length).toBeLessThanOrEqual(107);
    expect(await server.flooded()).toMatchObject({
      code: "flooding",
      message: "the server sent too many notifications: more than 10 per second for 1 s",
    });
    expect(server.messages.length).toBeLessThanOrEqual(125);
  });

  test.each([
    ["blank lines on stdout", "\n"],
    ["lines on stdout that are not messages", "all work and no play\n"],
    ["lines on stdout that are not messages", '{"jsonrpc":\n'],
  ])("with %s is disconnected, and the reason names them: %j", async (what, text) => {
    const first = `require("node:fs").writeSync(1, ${JSON.stringify(notification)});`;
    const burst = { unsolicitedBurst: 100 * lineCost, unsolicitedRate: 10 * lineCost };
    await using server = await flooding(first + floods(1, text), burst);
    expect(await server.flooded()).toMatchObject({
      code: "flooding",
      message: `the server sent too many ${what}: more than 10 per second for 1 s`,
    });
  });

  test("a line that begins like JSON but is not counts as eight, because it takes as long", async () => {
    const burst = { unsolicitedBurst: 80 * lineCost, unsolicitedRate: lineCost };
    const marked = `${'{"jsonrpc":\n'.repeat(8)}${notification}`;
    await using server = await flooding(floods(1, marked), burst);
    await server.throttled();
    // Each message comes after eight such lines: 65 of 80, then 130.
    expect(server.messages).toHaveLength(1);
  });

  test("on stderr is not read further than its rate allows", async () => {
    const burst = { unsolicitedBurst: 200_000, unsolicitedRate: 100_000 };
    await using server = await flooding(floods(2, "x\n"), burst);
    await server.throttled();
    // One chunk of a pipe has at most 64 kB.
    expect(server.stderr()).toBeGreaterThan(200_000);
    expect(server.stderr()).toBeLessThanOrEqual(200_000 + 65_536);
    expect(await server.flooded()).toMatchObject({
      code: "flooding",
      message: "the server wrote too much to stderr: more than 98 kB per second for 1 s",
    });
    const seconds = server.time.now() / 1000;
    expect(server.stderr()).toBeLessThanOrEqual(200_000 + seconds * 100_000 + 65_536);
  });

  test("ends like any other when it is closed while it waits", async () => {
    const server = await flooding(floods(1, "\n"), { unsolicitedBurst: 10 * lineCost });
    await server.throttled();
    await server[Symbol.asyncDispose]();
    expect(await server.over).toBeUndefined();
    expect(server.time.left()).toEqual([]);
  });

  test("with answers that were asked for does not count", async () => {
    const code = `process.stdout.write('{"id":1}\\n'.repeat(500)); ${stays}`;
    const limits = { unsolicitedBurst: 10 * lineCost, unsolicitedRate: 1 };
    await using server = await openServer(script(code), { limits });
    expect(await server.arrived(500)).toHaveLength(500);
  });
});

test("a batch of more than a thousand messages is cut", async () => {
  const code = `process.stdout.write(JSON.stringify(Array(1500).fill({ m: 1 })) + '\\n{"last":1}\\n'); ${stays}`;
  await using server = await openServer(script(code));
  expect((await server.arrived(1001)).at(-1)).toEqual({ last: 1 });
  expect(server.diagnostics).toEqual(["a batch has more than 1000 messages; the others were dropped"]);
});
