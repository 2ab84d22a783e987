import { describe, expect, test } from "vitest";
import type { JsonObject, Progress } from "../../src/session.ts";
import { failure, type MemoryServer, memoryServer, obligingServer } from "../support/memory-server.ts";
import { jumpingTime } from "../support/simulated-time.ts";
import { methodsOf, modernTasks, paramsOf } from "../support/task-session.ts";

const tasks = "io.modelcontextprotocol/tasks";
const call = { name: "dig", arguments: { deep: true } };
const done = { content: [{ type: "text", text: "gold" }], isError: false };
const task = (rest: JsonObject = {}): JsonObject => ({
  resultType: "complete",
  taskId: "t1",
  status: "working",
  ttlMs: null,
  pollIntervalMs: 1,
  ...rest,
});
const question = { method: "elicitation/create", params: { message: "Where?" } };

/** Makes a task of the call; the last state lasts. */
function digger(states: readonly JsonObject[], begun: JsonObject = task({ resultType: "task" })): MemoryServer {
  let looks = 0;
  return memoryServer({
    onMessage(message, server) {
      const { method } = message;
      if (method === "tools/call") server.result(message, begun);
      if (method === "tasks/get") server.result(message, states[Math.min(looks++, states.length - 1)]);
      if (method === "tasks/update" || method === "tasks/cancel") server.result(message, { resultType: "complete" });
    },
  });
}

describe("a call that the server makes a task of", () => {
  test("is looked at until it is over, and its result is in it", async () => {
    const server = digger([task({ statusMessage: "digging" }), task({ status: "completed", result: done })]);
    await using session = await modernTasks(server);
    const told: Progress[] = [];
    const result = await session.request("tools/call", call, { onProgress: (news) => told.push(news) });
    expect(result).toEqual({ ...done, resultType: "complete" });
    expect(told).toEqual([{ progress: 0, message: "digging" }]);
    expect(methodsOf(server)).toEqual(["tools/call", "tasks/get", "tasks/get"]);
  });

  test("may be over before it is looked at", async () => {
    const server = digger([], task({ resultType: "task", status: "completed", result: done }));
    await using session = await modernTasks(server);
    expect(await session.request("tools/call", call)).toMatchObject(done);
    expect(methodsOf(server)).toEqual(["tools/call"]);
  });

  test("is offered to servers that have tasks, and to no others", async () => {
    const declared = async (capabilities: JsonObject): Promise<unknown> => {
      const server = obligingServer();
      await using session = await modernTasks(server, { capabilities });
      await session.request("tools/call", call);
      return paramsOf(server.sent[0] ?? {})["_meta"];
    };
    const key = "io.modelcontextprotocol/clientCapabilities";
    expect(await declared({ extensions: { [tasks]: {} } })).toMatchObject({
      [key]: { elicitation: {}, extensions: { [tasks]: {} } },
    });
    expect(await declared({ extensions: {} })).toHaveProperty([key], { elicitation: {} });
  });

  test("is named in the headers of what is asked about it", async () => {
    const server = digger([task({ status: "completed", result: done })]);
    await using session = await modernTasks(server, { transport: "http" });
    await session.request("tools/call", call);
    expect(server.sendOptions[1]?.headers).toEqual({ "mcp-method": "tasks/get", "mcp-name": "t1" });
  });

  test("no other request may be answered with a task", async () => {
    const server = memoryServer({
      onMessage: (message, self) => self.result(message, task({ resultType: "task" })),
    });
    await using session = await modernTasks(server);
    expect(await failure(session.request("resources/read", { uri: "x://1" }))).toMatchObject({ code: "bad_message" });
    expect(methodsOf(server)).toEqual(["resources/read"]);
  });
});

describe("a task that ends badly", () => {
  test.each<[string, JsonObject, object]>([
    ["failed", { error: { code: -32603, message: "no shovel" } }, { code: "rpc", message: "no shovel" }],
    ["failed", {}, { code: "rpc", evidence: { rpc: { code: 0 } } }],
    ["cancelled", { statusMessage: "rain" }, { code: "rpc", message: "the server cancelled the task: rain" }],
    ["completed", {}, { code: "bad_message", message: "the task completed without a result" }],
  ])("%s with %j", async (end, rest, error) => {
    const server = digger([task({ status: end, ...rest })]);
    await using session = await modernTasks(server);
    expect(await failure(session.request("tools/call", call))).toMatchObject(error);
  });

  test.each([[undefined], [7], [null]])("with the id %j cannot be followed", async (taskId) => {
    await using session = await modernTasks(digger([], { ...task({ resultType: "task" }), taskId }));
    expect(await failure(session.request("tools/call", call))).toMatchObject({ code: "bad_message" });
  });

  test.each([[-32022, { supported: ["2026-07-28"] }] as const, [-32020, {}] as const])(
    "with the error %i is not begun again, whatever that would mean for a request",
    async (code, data) => {
      const server = digger([task({ status: "failed", error: { code, message: "no", data } })]);
      await using session = await modernTasks(server, { transport: "http" });
      expect(await failure(session.request("tools/call", call))).toMatchObject({ code: "rpc" });
      expect(methodsOf(server)).toEqual(["tools/call", "tasks/get"]);
    },
  );

  test("a result that asks for input once more is a result: the call is not repeated", async () => {
    const result = { resultType: "input_required", inputRequests: { a: question } };
    const server = digger([task({ status: "completed", result })]);
    await using session = await modernTasks(server, { onRequest: async () => ({}) });
    await session.request("tools/call", call);
    expect(methodsOf(server)).toEqual(["tools/call", "tasks/get"]);
  });
});

describe("a task that asks", () => {
  test("is answered, each question once however often it is seen", async () => {
    const waiting = task({ status: "input_required", inputRequests: { a: question } });
    const more = task({ status: "input_required", inputRequests: { a: question, b: question } });
    const server = digger([waiting, waiting, more, task({ status: "completed", result: done })]);
    const asked: unknown[] = [];
    await using session = await modernTasks(server, {
      onRequest: async (method, params) => ({ action: "accept", number: asked.push([method, params]) }),
    });
    await session.request("tools/call", call);
    expect(asked).toEqual([
      ["elicitation/create", { message: "Where?" }],
      ["elicitation/create", { message: "Where?" }],
    ]);
    const updates = server.sent.filter(({ method }) => method === "tasks/update").map(paramsOf);
    expect(updates).toMatchObject([
      { taskId: "t1", inputResponses: { a: { action: "accept", number: 1 } } },
      { taskId: "t1", inputResponses: { b: { action: "accept", number: 2 } } },
    ]);
  });

  test("waits for a person on the person's time", async () => {
    const server = digger([
      task({ status: "input_required", inputRequests: { a: question } }),
      task({ status: "completed", result: done }),
    ]);
    const time = jumpingTime();
    const thinks = (): Promise<JsonObject> =>
      new Promise((resolve) => void time.after(60_000, () => resolve({ action: "accept" })));
    await using session = await modernTasks(server, { time, onRequest: thinks });
    expect(await session.request("tools/call", call, { timeout: 500, total: 800 })).toMatchObject(done);
  });

  test("without a handler is cancelled", async () => {
    const sampling = { method: "sampling/createMessage", params: {} };
    const server = digger([task({ status: "input_required", inputRequests: { a: sampling } })]);
    await using session = await modernTasks(server);
    expect(await failure(session.request("tools/call", call))).toMatchObject({
      code: "unanswered",
      message: "the server asked for sampling/createMessage, which this program cannot answer",
    });
    expect(methodsOf(server)).toEqual(["tools/call", "tasks/get", "tasks/cancel"]);
  });

  test("for ever is called off", async () => {
    let looks = 0;
    const server = memoryServer({
      onMessage(message, self) {
        const { method } = message;
        if (method === "tools/call") self.result(message, task({ resultType: "task" }));
        if (method === "tasks/update") self.result(message, { resultType: "complete" });
        looks += 1;
        const inputRequests = { [`q${looks}`]: question };
        if (method === "tasks/get") self.result(message, task({ status: "input_required", inputRequests }));
      },
    });
    await using session = await modernTasks(server, { onRequest: async () => ({}) });
    const failed = await failure(session.request("tools/call", call));
    expect(failed).toMatchObject({ code: "bad_message", message: "the server asked for input more than 8 times" });
    expect(methodsOf(server).at(-1)).toBe("tasks/cancel");
  });
});

describe("the end of a task from here", () => {
  test.each([["stdio"], ["http"]] as const)("an abort calls it off over %s, by name", async (transport) => {
    const server = digger([task()]);
    await using session = await modernTasks(server, { transport });
    const stop = new AbortController();
    const failed = failure(session.request("tools/call", call, { signal: stop.signal }));
    await server.heard("tasks/get");
    stop.abort();
    expect(await failed).toMatchObject({ code: "cancelled" });
    expect(methodsOf(server).at(-1)).toBe("tasks/cancel");
    expect(methodsOf(server)).not.toContain("notifications/cancelled");
  });

  test("so does its time", async () => {
    const server = digger([task()]);
    await using session = await modernTasks(server);
    expect(await failure(session.request("tools/call", call, { timeout: 300 }))).toMatchObject({ code: "timeout" });
    expect(paramsOf(await server.heard("tasks/cancel"))).toMatchObject({ taskId: "t1" });
  });
});
