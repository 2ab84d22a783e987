import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { CallQueue } from "../../src/execute/call-queue.ts";

const never = (): AbortSignal => new AbortController().signal;

/** Resolves with the function that ends the call. */
async function start(queue: CallQueue, server: string, signal: AbortSignal): Promise<() => void> {
  await queue.enter(server, signal);
  return () => queue.leave(server);
}

/** Enters calls by name ("a1" is for server a), and lets them leave by name. */
function line(queue: CallQueue) {
  const entered: string[] = [];
  const leaves = new Map<string, () => void>();
  /** Resolves when every call that may start has started. */
  const enter = async (...calls: string[]): Promise<void> => {
    for (const call of calls)
      void start(queue, call.charAt(0), never()).then((leave) => {
        entered.push(call);
        leaves.set(call, leave);
      });
    await new Promise(setImmediate);
  };
  const leave = async (call: string): Promise<void> => {
    leaves.get(call)?.();
    await new Promise(setImmediate);
  };
  return { entered, enter, leave };
}

/** Whether a call may go at once. */
async function isAdmitted(queue: CallQueue, server: string): Promise<boolean> {
  const now = new Promise<false>((resolve) => setImmediate(() => resolve(false)));
  return Promise.race([start(queue, server, never()).then(() => true), now]);
}

describe("calls wait for their turn", () => {
  test("of one server, in the order in which they came", async () => {
    const { entered, enter, leave } = line(new CallQueue(() => ({ callsPerServer: 2, callsTotal: 10 }), 10));
    await enter("a1", "a2", "a3", "a4");
    expect(entered).toEqual(["a1", "a2"]);
    await leave("a2");
    expect(entered).toEqual(["a1", "a2", "a3"]);
    await leave("a1");
    expect(entered).toEqual(["a1", "a2", "a3", "a4"]);
  });

  test("a server that is busy delays no call to another server", async () => {
    const { entered, enter } = line(new CallQueue(() => ({ callsPerServer: 1, callsTotal: 10 }), 10));
    await enter("a1", "a2", "b1", "c1");
    expect(entered).toEqual(["a1", "b1", "c1"]);
  });

  test("a server whose calls run, and for which none waits, does not hold up those that wait for another", async () => {
    const { entered, enter, leave } = line(new CallQueue(() => ({ callsPerServer: 2, callsTotal: 2 }), 10));
    await enter("a1", "a2", "b1");
    await leave("a1");
    expect(entered).toEqual(["a1", "a2", "b1"]);
  });

  test("when all places are taken the servers take turns, however long the line of one is", async () => {
    const { entered, enter, leave } = line(new CallQueue(() => ({ callsPerServer: 10, callsTotal: 2 }), 10));
    await enter("a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1");
    for (const call of ["a1", "a2", "a3", "b1", "c1", "a4"]) await leave(call);
    expect(entered).toEqual(["a1", "a2", "a3", "b1", "c1", "a4", "b2", "a5"]);
  });

  test("calls that share a signal listen to it once, and no longer than one of them waits", async () => {
    const queue = new CallQueue(() => ({ callsPerServer: 1, callsTotal: 1 }), 10);
    const { signal } = new AbortController();
    const listeners = (): number => getEventListeners(signal, "abort").length;
    const leaveFirst = await start(queue, "a", signal);
    expect(listeners()).toBe(0);
    const [second, third] = [start(queue, "a", signal), start(queue, "b", signal)];
    expect(listeners()).toBe(1);
    leaveFirst();
    const leaveNext = await Promise.race([second, third]);
    expect(listeners()).toBe(1);
    leaveNext();
    await Promise.all([second, third]);
    expect(listeners()).toBe(0);
  });

  test("a signal that was used before cancels a later wait, and is let go then", async () => {
    const queue = new CallQueue(() => ({ callsPerServer: 1, callsTotal: 1 }), 10);
    const stop = new AbortController();
    const leave = await start(queue, "a", never());
    const second = start(queue, "a", stop.signal);
    leave();
    await second;
    const later = [start(queue, "a", stop.signal), start(queue, "b", stop.signal)];
    stop.abort("enough");
    await Promise.all(later.map((call) => expect(call).rejects.toBe("enough")));
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
    await expect(start(queue, "a", stop.signal)).rejects.toBe("enough");
  });

  test("limits that change while calls run count from the next call on", async () => {
    let limits = { callsPerServer: 1, callsTotal: 10 };
    const { entered, enter, leave } = line(new CallQueue(() => limits));
    await enter("a1", "a2");
    expect(entered).toEqual(["a1"]);
    limits = { callsPerServer: 3, callsTotal: 10 };
    await enter("a3", "a4");
    expect(entered).toEqual(["a1", "a2", "a3"]);
    limits = { callsPerServer: 1, callsTotal: 10 };
    await leave("a1");
    await leave("a2");
    expect(entered).toEqual(["a1", "a2", "a3"]);
    await leave("a3");
    expect(entered).toEqual(["a1", "a2", "a3", "a4"]);
  });

  test("a server that has calls running keeps its place count, and a server without calls loses its turn", async () => {
    const counted = line(new CallQueue(() => ({ callsPerServer: 2, callsTotal: 10 }), 10));
    await counted.enter("a1", "a2");
    await counted.leave("a1");
    await counted.enter("a3", "a4");
    expect(counted.entered).toEqual(["a1", "a2", "a3"]);
    const turns = line(new CallQueue(() => ({ callsPerServer: 1, callsTotal: 1 }), 10));
    await turns.enter("a1");
    await turns.leave("a1");
    await turns.enter("b1", "b2", "a2");
    await turns.leave("b1");
    expect(turns.entered).toEqual(["a1", "b1", "b2"]);
  });
});

test("one who gives up leaves those that wait behind in line, and those that run in their places", async () => {
  const full = new CallQueue(() => ({ callsPerServer: 1, callsTotal: 1 }), 10);
  const leave = await start(full, "b", never());
  const stop = new AbortController();
  const first = start(full, "a", stop.signal);
  const second = start(full, "a", never());
  stop.abort("enough");
  await expect(first).rejects.toBe("enough");
  leave();
  (await second)();

  const narrow = new CallQueue(() => ({ callsPerServer: 1, callsTotal: 10 }), 10);
  await narrow.enter("a", never());
  const impatient = new AbortController();
  const waiting = narrow.enter("a", impatient.signal);
  impatient.abort("enough");
  await expect(waiting).rejects.toBe("enough");
  expect(await isAdmitted(narrow, "a")).toBe(false);
});

test("one who has been called is out of the line: to give up later means nothing", async () => {
  const queue = new CallQueue(() => ({ callsPerServer: 1, callsTotal: 10 }), 10);
  const leave = await start(queue, "a", never());
  const stop = new AbortController();
  const second = start(queue, "a", stop.signal);
  leave();
  (await second)();
  await start(queue, "a", never());
  stop.abort();
  expect(await isAdmitted(queue, "a")).toBe(false);
});

test("one who has given up before takes no place", async () => {
  const queue = new CallQueue(() => ({ callsPerServer: 1, callsTotal: 1 }), 10);
  await expect(start(queue, "a", AbortSignal.abort("enough"))).rejects.toBe("enough");
  expect(await isAdmitted(queue, "b")).toBe(true);
});

test("one who gives up leaves the line, and the next one moves up", async () => {
  const queue = new CallQueue(() => ({ callsPerServer: 1, callsTotal: 1 }), 2);
  const leave = await start(queue, "a", never());
  const stop = new AbortController();
  const second = start(queue, "a", stop.signal);
  const third = start(queue, "a", never());
  stop.abort("enough");
  await expect(second).rejects.toBe("enough");
  const fourth = start(queue, "a", never());
  leave();
  (await third)();
  (await fourth)();
  await expect(start(queue, "a", stop.signal)).rejects.toBe("enough");
});

test("a line that is full turns away, and only those for that server", async () => {
  const queue = new CallQueue(() => ({ callsPerServer: 1, callsTotal: 1 }), 256);
  const leave = await start(queue, "a", never());
  const waiting = Array.from({ length: 256 }, () => start(queue, "a", never()));
  await expect(start(queue, "a", never())).rejects.toMatchObject({
    code: "busy",
    message: "Too many concurrent tool executions",
    serverName: "a",
  });
  const other = start(queue, "b", never());
  leave();
  for (const place of waiting.slice(0, 1)) (await place)();
  (await other)();
  for (const place of waiting.slice(1)) (await place)();
  (await start(queue, "a", never()))();
});
