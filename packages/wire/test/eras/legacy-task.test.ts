import { describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import type { JsonObject, Progress } from "../../src/session.ts";
import { turn } from "../support/collected.ts";
import { failure, type MemoryServer, memoryServer } from "../support/memory-server.ts";
import { stoppedTime } from "../support/simulated-time.ts";
import { legacyTasks, methodsOf, paramsOf } from "../support/task-session.ts";

const call = { name: "dig", arguments: { deep: true } };
const task = (rest: JsonObject = {}): JsonObject => ({ taskId: "t1", status: "working", pollInterval: 1, ...rest });
const done = { content: [{ type: "text", text: "gold" }] };

/** Takes the call as a task and looks at it as often as there are states; the last one lasts. */
function digger(states: readonly JsonObject[], result: (server: MemoryServer, request: JsonObject) => void) {
  let looks = 0;
  return memoryServer({
    onMessage(message, server) {
      const { method } = message;
      if (method === "tools/call") server.result(message, { task: task() });
      if (method === "tasks/get") server.result(message, states[Math.min(looks++, states.length - 1)]);
      if (method === "tasks/result") result(server, message);
      if (method === "tasks/cancel") server.result(message, task({ status: "cancelled" }));
    },
  });
}

const givesGold = (server: MemoryServer, request: JsonObject): void => server.result(request, done);
const status = (rest: JsonObject): JsonObject => ({
  jsonrpc: "2.0",
  method: "notifications/tasks/status",
  params: task(rest),
});

describe("a call that is to be a task", () => {
  test("is asked for as one, looked at until it is over, and its result is the answer", async () => {
    const server = digger([task(), task({ status: "completed" })], givesGold);
    await using session = await legacyTasks(server);
    expect(await session.request("tools/call", call, { asTask: true, total: 60_000 })).toEqual(done);
    expect(server.sent.map(({ method, params }) => [method, params])).toEqual([
      ["tools/call", { _meta: { progressToken: 1 }, ...call, task: { ttl: 60_000 } }],
      ["tasks/get", { taskId: "t1" }],
      ["tasks/get", { taskId: "t1" }],
      ["tasks/result", { _meta: { progressToken: 4 }, taskId: "t1" }],
    ]);
  });

  test("is a plain call where the server has no tasks, and where the caller asks for none", async () => {
    const plain = memoryServer({ onMessage: (message, server) => server.result(message, done) });
    await using session = await legacyTasks(plain, {});
    await session.request("tools/call", call, { asTask: true });
    const able = memoryServer({ onMessage: (message, server) => server.result(message, done) });
    await using other = await legacyTasks(able);
    await other.request("tools/call", call);
    for (const { sent } of [plain, able]) expect(sent[0]?.["params"]).toEqual({ _meta: { progressToken: 1 }, ...call });
  });

  test("may be answered at once all the same", async () => {
    const server = memoryServer({ onMessage: (message, self) => self.result(message, done) });
    await using session = await legacyTasks(server);
    expect(await session.request("tools/call", call, { asTask: true })).toEqual(done);
    expect(methodsOf(server)).toEqual(["tools/call"]);
  });

  test("that has failed has the error that its result is", async () => {
    const server = digger([task({ status: "failed" })], (self, request) =>
      self.error(request, -32603, "the shovel broke"),
    );
    await using session = await legacyTasks(server);
    const failed = await failure(session.request("tools/call", call, { asTask: true }));
    expect(failed).toMatchObject({ code: "rpc", message: "the shovel broke", evidence: { rpc: { code: -32603 } } });
  });

  test("that has failed has failed, whatever its result says", async () => {
    await using session = await legacyTasks(digger([task({ status: "failed" })], givesGold));
    expect(await session.request("tools/call", call, { asTask: true })).toEqual({ ...done, isError: true });
  });

  test.each([
    [{}, "the server cancelled the task"],
    [{ statusMessage: "too deep" }, "the server cancelled the task: too deep"],
  ])("that the server has cancelled is an error, whatever its result would be: %j", async (words, message) => {
    const server = digger([task({ status: "cancelled", ...words })], givesGold);
    await using session = await legacyTasks(server);
    const failed = await failure(session.request("tools/call", call, { asTask: true }));
    expect(failed).toMatchObject({ code: "rpc", message, evidence: { step: "tools/call" } });
    expect(methodsOf(server)).toEqual(["tools/call", "tasks/get"]);
  });

  test("is not another one that the server tells of", async () => {
    const server = digger([task({ taskId: "t2", status: "completed" })], givesGold);
    await using session = await legacyTasks(server);
    const failed = await failure(session.request("tools/call", call, { asTask: true }));
    expect(failed).toMatchObject({
      code: "bad_message",
      message: "the server's response to tasks/get is about another task",
    });
    expect(methodsOf(server)).toEqual(["tools/call", "tasks/get", "tasks/cancel"]);
  });

  test("that wants input is asked for its result at once, which brings the questions", async () => {
    const server = digger([task({ status: "input_required" })], (self, request) => {
      self.say({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: { message: "Where?" } });
      givesGold(self, request);
    });
    await using session = await legacyTasks(server);
    const asked: unknown[] = [];
    session.onRequest(async (method, params) => {
      asked.push([method, params]);
      return { action: "accept", content: { place: "here" } };
    });
    expect(await session.request("tools/call", call, { asTask: true })).toEqual(done);
    expect(asked).toEqual([["elicitation/create", { message: "Where?" }]]);
  });
});

describe("news of a task", () => {
  test("progress under the call's own token arrives for as long as it lives, and so do its words", async () => {
    const server = digger([task({ statusMessage: "digging" })], givesGold);
    await using session = await legacyTasks(server);
    const told: Progress[] = [];
    const result = session.request("tools/call", call, { asTask: true, onProgress: (news) => told.push(news) });
    await server.heard("tasks/get", 2);
    server.say({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: 1, progress: 3, total: 9 },
    });
    server.say(status({ statusMessage: "deeper" }));
    server.say(status({ status: "completed", statusMessage: "there" }));
    expect(await result).toEqual(done);
    server.say(status({ status: "completed", statusMessage: "after the result" }));
    await turn();
    expect(told).toEqual([
      { progress: 0, message: "digging" },
      { progress: 3, total: 9 },
      { progress: 3, total: 9, message: "deeper" },
      { progress: 3, total: 9, message: "there" },
    ]);
  });

  test("what the server tells unasked is taken; that of another task is not", async () => {
    const server = memoryServer({
      onMessage(message, self) {
        if (message["method"] === "tools/call") self.result(message, { task: task({ pollInterval: 30_000 }) });
        if (message["method"] === "tasks/result") givesGold(self, message);
      },
    });
    const time = stoppedTime();
    await using session = await legacyTasks(server, undefined, time);
    const result = session.request("tools/call", call, { asTask: true });
    await server.heard("tools/call");
    server.say(status({ taskId: "t2", status: "completed" }));
    await turn();
    expect(methodsOf(server)).toEqual(["tools/call"]);
    server.say(status({ status: "completed" }));
    expect(await result).toEqual(done);
    expect(methodsOf(server)).toEqual(["tools/call", "tasks/result"]);
    // The timer of the next look at the task is stopped, too; another timer is that of the connection.
    expect(time.left()).not.toContain(30_000);
  });

  test("restarts the silence: one whose words change lives on, one that only says that it works does not", async () => {
    let looks = 0;
    const lively = memoryServer({
      onMessage(message, self) {
        if (message["method"] === "tools/call") self.result(message, { task: task() });
        if (message["method"] === "tasks/get") {
          looks += 1;
          self.result(message, task(looks > 6 ? { status: "completed" } : { statusMessage: `stage ${looks}` }));
        }
        if (message["method"] === "tasks/result") givesGold(self, message);
      },
    });
    await using session = await legacyTasks(lively);
    expect(await session.request("tools/call", call, { asTask: true, timeout: 400 })).toEqual(done);
    const idle = digger([task()], givesGold);
    await using other = await legacyTasks(idle);
    const failed = await failure(other.request("tools/call", call, { asTask: true, timeout: 400 }));
    expect(failed).toMatchObject({
      code: "timeout",
      message: "tools/call timed out: no response or progress for 400 ms",
    });
    expect(paramsOf(await idle.heard("tasks/cancel"))).toEqual({ taskId: "t1" });
  });

  test("of a kind that is not known is no sign of life, however lively", async () => {
    let looks = 0;
    const odd = memoryServer({
      onMessage(message, self) {
        if (message["method"] === "tools/call") self.result(message, { task: task() });
        if (message["method"] !== "tasks/get") return;
        looks += 1;
        self.result(message, task({ status: "resting", statusMessage: `stage ${looks}` }));
      },
    });
    await using session = await legacyTasks(odd);
    const failed = await failure(session.request("tools/call", call, { asTask: true, timeout: 400, total: 5_000 }));
    expect(failed).toMatchObject({
      code: "timeout",
      message: "tools/call timed out: no response or progress for 400 ms",
    });
  });

  test("a second answer to the call is ignored", async () => {
    const server = digger([task({ status: "completed" })], givesGold);
    await using session = await legacyTasks(server);
    const { diagnostics } = session;
    const result = session.request("tools/call", call, { asTask: true });
    server.result(await server.heard("tools/call"), { content: "forged" });
    server.error({ id: 1 }, -1);
    expect(await result).toEqual(done);
    expect(diagnostics).toEqual(["a second response to a request was ignored"]);
  });
});

describe("the end of a task from here", () => {
  const endless = (): MemoryServer => digger([task()], () => undefined);

  test("an abort calls off the task, and nothing else", async () => {
    const server = endless();
    await using session = await legacyTasks(server);
    const stop = new AbortController();
    const failed = failure(session.request("tools/call", call, { asTask: true, signal: stop.signal }));
    await server.heard("tasks/get");
    stop.abort();
    expect(await failed).toMatchObject({ code: "cancelled", evidence: { step: "tools/call" } });
    expect(methodsOf(server).filter((method) => method !== "tasks/get")).toEqual(["tools/call", "tasks/cancel"]);
  });

  test("so does one in the moment in which it begins", async () => {
    const server = digger([task()], () => undefined);
    await using session = await legacyTasks(server);
    const stop = new AbortController();
    const begun = memoryServer({
      onMessage(message, self) {
        if (message["method"] === "tools/call") self.result(message, { task: task({ statusMessage: "I begin" }) });
      },
    });
    await using other = await legacyTasks(begun);
    const options = { asTask: true, signal: stop.signal, onProgress: () => stop.abort() };
    await failure(other.request("tools/call", call, options));
    expect(methodsOf(begun)).toEqual(["tools/call", "tasks/cancel"]);
    await session.close();
  });

  test("so does the end of its time as a whole, while it is waiting for its result too", async () => {
    const server = digger([task({ status: "input_required" })], () => undefined);
    await using session = await legacyTasks(server);
    const failed = await failure(session.request("tools/call", call, { asTask: true, timeout: 60_000, total: 300 }));
    expect(failed).toMatchObject({ code: "timeout", message: "tools/call timed out: the total time limit is reached" });
    expect(paramsOf(await server.heard("tasks/cancel"))).toEqual({ taskId: "t1" });
  });

  test("a call that is given up before there is a task is called off as a call", async () => {
    const server = memoryServer();
    await using session = await legacyTasks(server);
    const stop = new AbortController();
    const failed = failure(session.request("tools/call", call, { asTask: true, signal: stop.signal }));
    await server.heard("tools/call");
    stop.abort();
    await failed;
    expect(methodsOf(server)).toEqual(["tools/call", "notifications/cancelled"]);
  });
});

describe("a task that is lost", () => {
  test("with its server fails at once, as a call that may have run", async () => {
    const server = digger([task()], givesGold);
    await using session = await legacyTasks(server);
    const failed = failure(session.request("tools/call", call, { asTask: true }));
    await server.heard("tasks/get");
    server.hangUp(new WireError("exited", "the server exited with code 3", { exitCode: 3 }));
    expect(await failed).toMatchObject({ code: "exited", evidence: { exitCode: 3, step: "tools/call" } });
    expect((await failed).evidence.unsent).toBeUndefined();
  });

  test("because the server does not know it any more says so", async () => {
    const server = memoryServer({
      onMessage(message, self) {
        if (message["method"] === "tools/call") self.result(message, { task: task() });
        if (message["method"] === "tasks/get") self.error(message, -32602, "Task not found");
      },
    });
    await using session = await legacyTasks(server);
    expect(await failure(session.request("tools/call", call, { asTask: true }))).toMatchObject({
      code: "task_lost",
      message: "the task is lost: Task not found",
    });
  });

  test("from sight for a moment is looked for again, and given up when it does not come back", async () => {
    let looks = 0;
    const shaky = (isBack: () => boolean): MemoryServer =>
      memoryServer({
        onSend({ method }) {
          if (method === "tasks/get") looks += 1;
          if (method === "tasks/get" && !isBack())
            throw new WireError("unreachable", "the server cannot be reached: ECONNREFUSED", { unsent: true });
        },
        onMessage(message, self) {
          if (message["method"] === "tools/call") self.result(message, { task: task() });
          if (message["method"] === "tasks/get") self.result(message, task({ status: "completed" }));
          if (message["method"] === "tasks/result") givesGold(self, message);
        },
      });
    await using session = await legacyTasks(shaky(() => looks > 1));
    expect(await session.request("tools/call", call, { asTask: true })).toEqual(done);
    looks = 0;
    await using other = await legacyTasks(shaky(() => false));
    const failed = await failure(other.request("tools/call", call, { asTask: true }));
    expect(failed).toMatchObject({ code: "task_lost", evidence: { step: "tasks/get" } });
    expect([looks, failed.evidence.unsent]).toEqual([3, undefined]);
  });
});
