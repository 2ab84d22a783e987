import { describe, expect, test } from "vitest";
import { type CallQueue, createCallQueue } from "../../src/execute/call-queue.ts";

const never = (): AbortSignal => new AbortController().signal;

/** Enters calls by name ("a1" is for server a), and lets them leave by name. */
function line(queue: CallQueue) {
  const entered: string[] = [];
  const leaves = new Map<string, () => void>();
  /** Resolves when everyone who may enter has. */
  const enter = async (...calls: string[]): Promise<void> => {
    for (const call of calls)
      void queue.enter(call.charAt(0), never()).then((leave) => {
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

describe("calls wait for their turn", () => {
  test("of one server, in the order in which they came", async () => {
    const { entered, enter, leave } = line(createCallQueue({ perServer: 2, total: 10, waitingPerServer: 10 }));
    await enter("a1", "a2", "a3", "a4");
    expect(entered).toEqual(["a1", "a2"]);
    await leave("a2");
    await leave("a1");
    expect(entered).toEqual(["a1", "a2", "a3", "a4"]);
  });

  test("a server that is busy keeps nobody waiting who goes elsewhere", async () => {
    const { entered, enter } = line(createCallQueue({ perServer: 1, total: 10, waitingPerServer: 10 }));
    await enter("a1", "a2", "b1", "c1");
    expect(entered).toEqual(["a1", "b1", "c1"]);
  });

  test("when all places are taken the servers take turns, however long the line of one is", async () => {
    const { entered, enter, leave } = line(createCallQueue({ perServer: 10, total: 2, waitingPerServer: 10 }));
    await enter("a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1");
    for (const call of ["a1", "a2", "a3", "b1", "c1", "a4"]) await leave(call);
    expect(entered).toEqual(["a1", "a2", "a3", "b1", "c1", "a4", "b2", "a5"]);
  });

  test("a place is given back once, however often it is left", async () => {
    const { entered, enter, leave } = line(createCallQueue({ perServer: 1, total: 1, waitingPerServer: 10 }));
    await enter("a1", "a2", "a3");
    await leave("a1");
    await leave("a1");
    expect(entered).toEqual(["a1", "a2"]);
  });
});

test("one who gives up leaves the line, and the next one moves up", async () => {
  const queue = createCallQueue({ perServer: 1, total: 1, waitingPerServer: 2 });
  const leave = await queue.enter("a", never());
  const stop = new AbortController();
  const second = queue.enter("a", stop.signal);
  const third = queue.enter("a", never());
  stop.abort("enough");
  await expect(second).rejects.toBe("enough");
  const fourth = queue.enter("a", never());
  leave();
  (await third)();
  (await fourth)();
  await expect(queue.enter("a", stop.signal)).rejects.toBe("enough");
});

test("a line that is full turns away, and only those for that server", async () => {
  const queue = createCallQueue({ perServer: 1, total: 1, waitingPerServer: 256 });
  const leave = await queue.enter("a", never());
  const waiting = Array.from({ length: 256 }, () => queue.enter("a", never()));
  await expect(queue.enter("a", never())).rejects.toMatchObject({
    code: "busy",
    message: "Too many concurrent tool executions",
    serverName: "a",
  });
  const other = queue.enter("b", never());
  leave();
  for (const place of waiting.slice(0, 1)) (await place)();
  (await other)();
  for (const place of waiting.slice(1)) (await place)();
  (await queue.enter("a", never()))();
});
