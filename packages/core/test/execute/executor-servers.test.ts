/** Calls into real servers, over every transport in both eras: what the server sees of them, and how they end. */

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { scaled, type TemporaryFolder, temporaryFolder, until } from "@fairlead/test-servers";
import type { Progress } from "@fairlead/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Executor } from "../../src/execute/executor.ts";
import { createValidator } from "../../src/execute/validation/validator.ts";
import { connectTo, type OpenWorkshop, openWorkshop, patient, places } from "../support/workshop-client.ts";

const text = (words: string) => ({ content: [{ type: "text", text: words }], isError: false });

/** Lets the tool `steps` take one step after the other. */
function stepper({ path }: TemporaryFolder, count: number) {
  const gate = join(path, "gate");
  const told: Progress[] = [];
  let heard = (): void => {};
  const go = (): void => appendFileSync(gate, ".");
  return {
    args: { count, gate },
    onProgress: (progress: Progress): void => {
      told.push(progress);
      heard();
    },
    told: () => told.map(({ progress, total }) => [progress, total]),
    go,
    /** Resolves when progress has told of it. */
    async step(number: number): Promise<void> {
      const isHeard = new Promise<void>((resolve) => {
        heard = () => told.length >= number && resolve();
      });
      go();
      await isHeard;
    },
  };
}

describe.each(places)("$era, $transport", ({ sees, ...place }) => {
  let shop: OpenWorkshop;
  let before = 0;
  beforeAll(async () => {
    shop = await openWorkshop(place);
  });
  afterAll(() => shop[Symbol.asyncDispose]());
  beforeEach(() => {
    before = shop.workshop.notes().length;
  });
  const notes = (): readonly string[] => shop.workshop.notes().slice(before);

  test("a call is answered, and one with wrong arguments never reaches the server", async () => {
    expect(await shop.call("echo", { text: "ahoy" })).toEqual(text("ahoy"));
    await expect(shop.call("echo", { text: 7 })).rejects.toMatchObject({ code: "arguments_invalid" });
    expect(notes()).toEqual(["echo"]);
  });

  test("an abort reaches the server; its late answer is ignored", async () => {
    const stop = new AbortController();
    const call = shop.call("late", {}, { signal: stop.signal });
    await shop.workshop.noted("late");
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: "cancelled", serverName: "shop" });
    await shop.workshop.noted(`${sees} late`);
    expect(await shop.call("echo", { text: "still here" })).toEqual(text("still here"));
    expect(notes()).toEqual(["late", `${sees} late`, "echo"]);
  });

  test("so does silence that lasts too long, and what is longer than it may be as a whole", async () => {
    const silent = expect(shop.call("hang", {}, { timeout: 300 })).rejects.toMatchObject({
      code: "call_timeout",
      message: "shop.hang timed out: no response or progress for 300 ms; the request may or may not have run",
    });
    await shop.workshop.noted("hang");
    await shop.clock.pass(300);
    await silent;
    await shop.workshop.noted(`${sees} hang`);
    await using folder = await temporaryFolder();
    const walk = stepper(folder, 3);
    const long = expect(
      shop.call("steps", walk.args, { timeout: 400, total: 500, onProgress: walk.onProgress }),
    ).rejects.toMatchObject({
      code: "call_timeout",
      message: "shop.steps timed out: the total time limit is reached; the request may or may not have run",
    });
    await walk.step(1);
    await shop.clock.pass(300);
    await walk.step(2);
    await shop.clock.pass(200);
    await long;
    await shop.workshop.noted(`${sees} steps`);
  });

  test("progress is told, and restarts the silence", async () => {
    await using folder = await temporaryFolder();
    const walk = stepper(folder, 3);
    const result = shop.call("steps", walk.args, { timeout: 400, onProgress: walk.onProgress });
    for (const number of [1, 2, 3]) {
      await walk.step(number);
      await shop.clock.pass(300);
    }
    walk.go();
    expect(await result).toEqual(text("3 steps"));
    expect(walk.told()).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
  });

  test("a tool that runs only as a task is run as one; one that never ends is called off by abort and by time", async () => {
    /** Two timers run: the call's time limit, and the pause before the next look at the task. */
    const isWaiting = (): Promise<void> => until(() => shop.clock.pending() === 2);
    const gold = shop.call("dig", { looks: 2 });
    for (const _look of [1, 2]) {
      await isWaiting();
      await shop.clock.pass(100);
    }
    expect(await gold).toEqual(text("gold"));
    const stop = new AbortController();
    const call = expect(shop.call("dig", { looks: 1_000_000 }, { signal: stop.signal })).rejects.toMatchObject({
      code: "cancelled",
    });
    await isWaiting();
    stop.abort();
    await call;
    for (const limit of [{ timeout: 400 }, { total: 400 }]) {
      const late = expect(shop.call("dig", { looks: 1_000_000 }, limit)).rejects.toMatchObject({
        code: "call_timeout",
      });
      await isWaiting();
      await shop.clock.pass(400);
      await late;
    }
    await shop.workshop.noted("tasks/cancel", 3);
  });

  test("a result that breaks its own promise is delivered, with a warning", async () => {
    const broken = { temperature: "warm" };
    expect(await shop.call("weather", { answer: broken })).toMatchObject({
      structuredContent: broken,
      warnings: ['the result does not match the tool\'s outputSchema: "temperature" must be a number'],
    });
    expect(await shop.call("weather", { answer: { temperature: 20 } })).not.toHaveProperty("warnings");
  });

  test("a flood of progress drowns neither its own call nor another", async () => {
    const count = scaled(20_000);
    let told = 0;
    const onProgress = (): void => {
      told += 1;
    };
    const flood = shop.call("flood", { count }, { onProgress });
    expect(await shop.call("echo", { text: "dry" })).toEqual(text("dry"));
    expect(await flood).toEqual(text(`${count} times`));
    expect(told).toBe(count);
  });
});

describe("a server that dies with 16 calls in flight", () => {
  test.each(["legacy", "modern"] as const)(
    "killed, %s: 16 lost calls that name the signal, none made again",
    async (era) => {
      let connections = 0;
      await using shop = await openWorkshop(
        { era, transport: "stdio" },
        {
          async reconnect() {
            connections += 1;
            throw new Error("nobody asked for this");
          },
        },
      );
      const calls = Array.from({ length: 16 }, () => shop.call("hang"));
      const ends = Promise.allSettled(calls);
      await shop.workshop.noted("hang", 16);
      shop.kill();
      for (const end of await ends)
        expect(end).toMatchObject({
          status: "rejected",
          reason: {
            code: "lost",
            message: "shop.hang: the server was ended by SIGKILL; the request may or may not have run",
            cause: { code: "server_exited" },
          },
        });
      expect(connections).toBe(0);
      expect(shop.workshop.notes()).toEqual(Array.from({ length: 16 }, () => "hang"));
    },
  );

  test("on its own: the exit code is named, and the ones that wait behind them are not sent", async () => {
    await using shop = await openWorkshop();
    const calls = [...Array.from({ length: 15 }, () => shop.call("hang")), shop.call("exit", { code: 3 })];
    const waiting = Promise.allSettled([shop.call("echo", { text: "a" }), shop.call("echo", { text: "b" })]);
    for (const end of await Promise.allSettled(calls))
      expect(end).toMatchObject({ reason: { code: "lost", cause: { code: "server_exited" } } });
    await expect(calls[0]).rejects.toThrow("the server exited with code 3");
    for (const end of await waiting) expect(end).toMatchObject({ reason: { code: "server_exited" } });
    expect(shop.workshop.notes()).not.toContain("echo");
  });

  test("what waited behind them is sent over a new connection, when there is one", async () => {
    await using shop = await openWorkshop(undefined, { limits: () => ({ callsPerServer: 1, callsTotal: 64 }) });
    const next = await connectTo(shop.workshop, "shop");
    const validator = createValidator();
    const limits = () => ({ callsPerServer: 1, callsTotal: 64 });
    const executor = new Executor({ limits, validator, reconnect: async () => next });
    const { client } = shop;
    const dying = executor.call({ client, tool: "exit", args: { code: 3 } }, patient);
    const behind = executor.call({ client, tool: "echo", args: { text: "after all" } }, patient);
    await expect(dying).rejects.toMatchObject({ code: "lost" });
    expect(await behind).toEqual(text("after all"));
    await next.disconnect();
    await validator.close();
    expect(shop.workshop.notes()).toEqual(["exit", "echo"]);
  });
});

test("calls beyond the cap wait for their turn at the server", async () => {
  await using shop = await openWorkshop(undefined, { limits: () => ({ callsPerServer: 2, callsTotal: 64 }) });
  const stop = new AbortController();
  const hanging = [shop.call("hang", {}, { signal: stop.signal }), shop.call("hang", {}, { signal: stop.signal })];
  const third = shop.call("echo", { text: "my turn" }, { timeout: 60_000 });
  await shop.workshop.noted("hang", 2);
  stop.abort();
  await Promise.allSettled(hanging);
  expect(await third).toEqual(text("my turn"));
  expect(shop.workshop.notes().indexOf("echo")).toBeGreaterThan(1);
});

test("one server's line never keeps another's calls waiting", async () => {
  await using busy = await openWorkshop();
  await using free = await openWorkshop({ era: "modern", transport: "stdio" }, {}, "free");
  const limits = () => ({ callsPerServer: 2, callsTotal: 4 });
  const validator = createValidator();
  const executor = new Executor({ limits, validator });
  const hang = { client: busy.client, tool: "hang", args: {} };
  const stop = new AbortController();
  const how = { ...patient, signal: stop.signal };
  const hanging = Promise.allSettled(Array.from({ length: 100 }, () => executor.call(hang, how)));
  for (const words of ["one", "two", "three"])
    expect(await executor.call({ client: free.client, tool: "echo", args: { text: words } }, patient)).toEqual(
      text(words),
    );
  // It writes them down in its own time.
  await until(() => busy.workshop.notes().length >= 2);
  expect(busy.workshop.notes()).toEqual(["hang", "hang"]);
  stop.abort();
  await hanging;
  await validator.close();
});
