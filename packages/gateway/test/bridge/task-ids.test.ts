import { expect, test } from "vitest";
import { hasTasks, serverTask, taskOptions, toClientTask } from "../../src/bridge/tasks.ts";
import type { ClientCall } from "../../src/questions/client-call.ts";

const extensions = { "io.modelcontextprotocol/tasks": {} };
const call: ClientCall = {
  era: "modern",
  id: 1,
  capabilities: { extensions },
  logLevel: undefined,
  signal: new AbortController().signal,
  notify: () => {},
  ask: async () => ({}),
};
const servers = ["jobs", "other"];

test.each([
  [undefined, false],
  [{}, false],
  [{ extensions: {} }, false],
  [{ extensions: { "io.modelcontextprotocol/tasks": true } }, false],
  [{ extensions }, true],
])("the capabilities %j declare tasks: %s", (capabilities, isDeclared) => {
  expect(hasTasks(capabilities)).toBe(isDeclared);
});

test("only a modern client that declares tasks follows them itself", () => {
  expect(taskOptions(call)).toEqual({ tasks: "caller", extensions: { extensions } });
  expect(taskOptions({ ...call, era: "legacy" })).toEqual({});
  expect(taskOptions({ ...call, capabilities: {} })).toEqual({});
});

test("a task id carries the server's name to the client and back", () => {
  const task = { resultType: "task", taskId: "a.1" };
  const given = toClientTask(task, "jobs", undefined);
  expect(given).toEqual({ resultType: "task", taskId: "am9icw.a.1" });
  expect(serverTask(call, { taskId: given["taskId"], more: 1 }, { only: undefined, servers })).toEqual({
    server: "jobs",
    params: { taskId: "a.1", more: 1 },
  });
});

test("at a server's own address, and in other results, task ids stay unchanged", () => {
  const task = { taskId: "a.1" };
  expect(toClientTask(task, "jobs", "jobs")).toBe(task);
  const result = { content: [] };
  expect(toClientTask(result, "jobs", undefined)).toBe(result);
  expect(serverTask(call, task, { only: "jobs", servers })).toEqual({ server: "jobs", params: task });
});

test.each([
  ["without a server's name", "task", undefined],
  ["of an unknown server", "bm9uZQ.task", undefined],
  ["with nothing but a server's name", "am9icw.", undefined],
  ["that is empty", "", "jobs"],
  ["that is no text", 7, "jobs"],
  ["at the address of an unknown server", "task", "none"],
])("a task id %s is refused", (_, taskId, only) => {
  expect(() => serverTask(call, { taskId }, { only, servers })).toThrow(
    expect.objectContaining({ message: "unknown task", evidence: { rpc: { code: -32602 } } }),
  );
});

test("clients that cannot use tasks are told why", () => {
  const where = { only: undefined, servers };
  expect(() => serverTask({ ...call, era: "legacy" }, {}, where)).toThrow(
    expect.objectContaining({
      message: "the gateway supports tasks only for modern clients",
      evidence: { rpc: { code: -32601 } },
    }),
  );
  expect(() => serverTask({ ...call, capabilities: {} }, {}, where)).toThrow(
    expect.objectContaining({
      message: "the client does not declare tasks",
      evidence: { rpc: { code: -32021, data: { requiredCapabilities: { extensions } } } },
    }),
  );
});
