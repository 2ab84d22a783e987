import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { followTask, taskCancelledError } from "../../src/eras/task.ts";
import { WireError } from "../../src/errors.ts";
import type { JsonObject, NotificationListener } from "../../src/session.ts";
import { turn } from "../support/collected.ts";
import { failure } from "../support/memory-server.ts";
import { stoppedTime } from "../support/simulated-time.ts";

type Reply = JsonObject | WireError | Promise<JsonObject>;

/** Follows the task `t`; the replies are those to `tasks/get`, in order. */
function follow(
  first: JsonObject,
  replies: readonly Reply[] = [],
  onConclude: (task: JsonObject) => void = () => undefined,
) {
  const time = stoppedTime();
  const stop = new AbortController();
  const asked: unknown[] = [];
  const calls: unknown[] = [];
  const listeners = new Set<NotificationListener>();
  let polls = 0;
  const result = followTask("t", first, {
    open: {
      signal: stop.signal,
      restartTimeout: () => void calls.push("restart"),
      progress: () => undefined,
      reportMessage: (message) => void calls.push(message),
      pause: () => undefined,
      resume: () => undefined,
    },
    async ask(method, params, options) {
      asked.push([method, params, options]);
      if (method !== "tasks/get") throw new Error("not heard");
      const reply = replies[polls++] ?? { status: "completed" };
      if (reply instanceof WireError) throw reply;
      return reply;
    },
    rpc: {
      onNotification(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      clock: { after: time.after },
    },
    statusMethod: "status",
    async conclude(task) {
      onConclude(task);
      return task["status"] === "completed" ? { done: task } : undefined;
    },
  });
  result.catch(() => undefined);
  return {
    result,
    time,
    stop,
    asked,
    calls,
    listeners,
    tell: (params: JsonObject, method = "status") => {
      for (const listener of listeners) listener(method, { taskId: "t", ...params });
    },
    next: async (milliseconds: number) => {
      await turn();
      time.advance(milliseconds);
      await turn();
    },
  };
}

const get = (stop: AbortController): unknown => [
  "tasks/get",
  { taskId: "t" },
  { signal: stop.signal, timeout: Number.POSITIVE_INFINITY, quiet: true },
];
const cancel = ["tasks/cancel", { taskId: "t" }, { awaitedOnClose: true, quiet: true }];
const working: JsonObject = { status: "working" };

describe("the pause between two polls", () => {
  test.each<[JsonObject, number]>([
    [{}, 1000],
    [{ pollInterval: 500 }, 500],
    [{ pollIntervalMs: 700, pollInterval: 500 }, 700],
    [{ pollIntervalMs: 99 }, 100],
    [{ pollIntervalMs: 100 }, 100],
    [{ pollIntervalMs: 60_000 }, 60_000],
    [{ pollIntervalMs: 60_001 }, 60_000],
    [{ pollIntervalMs: Number.POSITIVE_INFINITY }, 1000],
    [{ pollIntervalMs: "5" }, 1000],
    [{ pollIntervalMs: null }, 1000],
  ])("for a task with %j is %d ms", async (task, pause) => {
    const { result, time, asked, stop } = follow({ ...working, ...task });
    await turn();
    expect(time.left()).toEqual([pause]);
    expect(asked).toEqual([]);
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
    time.advance(pause);
    expect(await result).toEqual({ done: { status: "completed" } });
    expect(asked).toEqual([get(stop)]);
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  });

  test("ends with a notification about the task", async () => {
    const { result, time, asked, tell, listeners } = follow(working);
    await turn();
    tell({ status: "completed", taskId: "other" });
    tell({ status: "completed" }, "other");
    await turn();
    expect(time.left()).toEqual([1000]);
    tell({ status: "completed" });
    expect(await result).toEqual({ done: { taskId: "t", status: "completed" } });
    expect([asked, time.left(), listeners.size]).toEqual([[], [], 0]);
  });

  test("is left out if a notification arrived while the last state was handled", async () => {
    const seen: unknown[] = [];
    const followed = follow(working, [working], ({ status }) => {
      seen.push(status);
      if (seen.length === 2) followed.tell({ status: "completed" });
    });
    await followed.next(1000);
    expect(await followed.result).toEqual({ done: { taskId: "t", status: "completed" } });
    expect([followed.asked.length, seen]).toEqual([1, ["working", "working", "completed"]]);
  });
});

describe("a poll", () => {
  test("whose answer is older than a notification does not count", async () => {
    let reply: (task: JsonObject) => void = () => undefined;
    const pending = new Promise<JsonObject>((resolve) => {
      reply = resolve;
    });
    const { result, tell, next } = follow(working, [pending]);
    await next(1000);
    tell({ status: "completed", from: "notification" });
    reply({ status: "working" });
    expect(await result).toEqual({ done: { taskId: "t", status: "completed", from: "notification" } });
  });

  test.each([
    ["unreachable", {}],
    ["stream_lost", {}],
    ["http_status", { httpStatus: 500 }],
    ["http_status", { httpStatus: 429 }],
  ] as const)("that fails with %s %j is repeated, three times in all", async (code, evidence) => {
    const lost = new WireError(code, "no network", evidence);
    const { result, asked, next, stop } = follow(working, [lost, lost]);
    for (const _ of [1, 2, 3]) await next(1000);
    expect(await result).toEqual({ done: { status: "completed" } });
    expect(asked).toEqual([get(stop), get(stop), get(stop)]);
    const gone = follow(working, [lost, lost, lost]);
    for (const _ of [1, 2, 3]) await gone.next(1000);
    const error = await failure(gone.result);
    expect([error.code, error.message, error.evidence]).toEqual([
      "task_lost",
      "the task is lost: no network",
      evidence,
    ]);
    expect(error.cause).toBe(lost);
    expect(gone.asked).toEqual([get(gone.stop), get(gone.stop), get(gone.stop), cancel]);
  });

  test("that fails may be replaced by a notification", async () => {
    const { result, tell, next, asked } = follow(working, [new WireError("unreachable", "no")]);
    await next(1000);
    tell({ status: "completed" });
    expect(await result).toMatchObject({ done: { status: "completed" } });
    expect(asked).toHaveLength(1);
  });

  test.each([
    ["rpc", {}, "task_lost"],
    ["http_status", { httpStatus: 499 }, "http_status"],
    ["http_status", {}, "http_status"],
    ["timeout", {}, "timeout"],
  ] as const)("that fails with %s %j ends the task at once", async (code, evidence, expected) => {
    const { result, next, asked, listeners, time } = follow(working, [new WireError(code, "no", evidence)]);
    await next(1000);
    expect(await failure(result)).toMatchObject({ code: expected });
    expect(asked.at(-1)).toEqual(cancel);
    expect([listeners.size, time.left()]).toEqual([0, []]);
  });

  test("that is answered with another task fails", async () => {
    const { result, next } = follow(working, [{ taskId: "other", status: "completed" }]);
    await next(1000);
    expect(await failure(result)).toMatchObject({
      code: "bad_message",
      message: "the server's response to tasks/get is about another task",
      evidence: { step: "tasks/get" },
    });
    const own = follow(working, [{ taskId: "t", status: "completed" }]);
    await own.next(1000);
    expect(await own.result).toEqual({ done: { taskId: "t", status: "completed" } });
  });
});

describe("the timeout of the caller", () => {
  test("restarts only when the state of the task has changed", async () => {
    const states: JsonObject[] = [
      working,
      { status: "working", lastUpdatedAt: "1" },
      { status: "working", lastUpdatedAt: "1" },
      { status: "working", lastUpdatedAt: "1", statusMessage: "half" },
      { status: "working", lastUpdatedAt: 7, statusMessage: "half" },
      { status: "input_required", statusMessage: "half" },
      { status: "odd", statusMessage: "not told" },
      { status: "completed", statusMessage: "x".repeat(1001) },
    ];
    const { result, calls, next } = follow(working, states);
    for (const _ of states) await next(1000);
    await result;
    expect(calls).toEqual(["restart", "restart", "half", "half", "half", `${"x".repeat(999)}…`]);
  });

  test("also restarts with a notification", async () => {
    const { result, calls, tell } = follow(working);
    await turn();
    tell({ status: "failed" });
    expect(calls).toEqual(["restart", "restart"]);
    tell({ status: "cancelled", statusMessage: "rain" });
    await turn();
    tell({ status: "completed" });
    await result;
    expect(calls).toEqual(["restart", "restart", "rain", "restart"]);
  });
});

describe("the end of a task", () => {
  test("by the caller cancels it once, and leaves no timer and no listener", async () => {
    const { result, stop, asked, time, listeners } = follow(working);
    await turn();
    stop.abort("enough");
    const error = await failure(result);
    expect([error.code, error.message, error.cause]).toEqual(["cancelled", "tasks/get was cancelled", "enough"]);
    expect(error.evidence).toEqual({ step: "tasks/get" });
    expect([asked, time.left(), listeners.size]).toEqual([[cancel], [], 0]);
  });

  test("by the caller during a poll is not a lost task", async () => {
    const lost = new WireError("unreachable", "aborted");
    let fail: (error: Error) => void = () => undefined;
    const pending = new Promise<JsonObject>((_, reject) => {
      fail = reject;
    });
    const { result, stop, asked, next } = follow(working, [pending]);
    await next(1000);
    stop.abort();
    fail(lost);
    expect(await failure(result)).toBe(lost);
    expect(asked.slice(1)).toEqual([cancel]);
  });

  test("after its result is not cancelled any more", async () => {
    const { result, stop, asked } = follow({ status: "completed" });
    expect(await result).toEqual({ done: { status: "completed" } });
    stop.abort();
    await turn();
    expect(asked).toEqual([]);
  });

  test.each([
    ["working", true],
    ["failed", false],
    ["cancelled", false],
    ["completed", false],
  ])("in the state %s with an error cancels it: %s", async (status, isCancelled) => {
    const { result, asked } = follow({ status }, [], () => {
      throw new WireError("rpc", "no");
    });
    expect(await failure(result)).toMatchObject({ code: "rpc" });
    expect(asked).toEqual(isCancelled ? [cancel] : []);
  });

  test("by the server has the server's status message in the error", () => {
    const messages = [{}, { statusMessage: "rain" }, { statusMessage: 7 }].map((task) => taskCancelledError(task, "x"));
    expect(messages.map(({ message }) => message)).toEqual([
      "the server cancelled the task",
      "the server cancelled the task: rain",
      "the server cancelled the task",
    ]);
    expect(messages[0]).toMatchObject({ code: "rpc", evidence: { step: "x" } });
    expect(taskCancelledError({ statusMessage: "x".repeat(1001) }, "x").message.length).toBeLessThan(1040);
  });
});
