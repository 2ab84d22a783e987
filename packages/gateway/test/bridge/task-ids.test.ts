import { expect, test } from "vitest";
import { createTaskIds, hasTasks, serverOfTask, taskOptions } from "../../src/bridge/tasks.ts";
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
  expect(taskOptions(call)).toEqual({ tasks: "caller", extensions });
  expect(taskOptions({ ...call, era: "legacy" })).toEqual({});
  expect(taskOptions({ ...call, capabilities: {} })).toEqual({});
});

test.each([
  ["without a server's name", "task"],
  ["of an unknown server", "bm9uZQ.task"],
  ["that is empty", ""],
  ["that is no text", 7],
])("a task id %s is refused", (_, taskId) => {
  expect(() => serverOfTask(call, { taskId }, servers)).toThrow(
    expect.objectContaining({ message: "unknown task", evidence: { rpc: { code: -32602 } } }),
  );
});

test("only results of tasks get a client's task id", async () => {
  const codeOf = (use: string, text: string) => Buffer.from(`${use} ${text}`).toString("base64url");
  const ids = createTaskIds(async () => ({ codeOf, isCodeOf: (use, text, given) => codeOf(use, text) === given }));
  const place = {
    client: { name: "ann" },
    principal: undefined,
    server: "jobs",
    scope: (): string | undefined => "here",
  };
  const result = { taskId: "7", content: [] };
  expect(await ids.toClient(place, "tools/call", result)).toBe(result);
  const code = Buffer.from('task ["ann","jobs","here","a.1"]').toString("base64url");
  const { taskId } = await ids.toClient(place, "tools/call", { resultType: "task", taskId: "a.1" });
  expect(taskId).toBe(`am9icw.${code}.a.1`);
  expect(await ids.toServer(place, { taskId, more: 1 })).toEqual({ taskId: "a.1", more: 1 });
  for (const other of [
    { ...place, client: { name: "bob" } },
    { ...place, principal: { tenant: 0, id: "ann", groups: [] } },
    { ...place, scope: () => "there" },
    { ...place, scope: () => undefined },
  ])
    await expect(ids.toServer(other, { taskId })).rejects.toThrow("unknown task");
});

test("a task of a team's user is no other user's, also if both use a client of the same name", async () => {
  const codeOf = (use: string, text: string) => Buffer.from(`${use} ${text}`).toString("base64url");
  const ids = createTaskIds(async () => ({ codeOf, isCodeOf: (use, text, given) => codeOf(use, text) === given }));
  const of = (tenant: number, id: string, ...groups: string[]) => ({
    client: { name: "editor" },
    principal: { tenant, id, groups },
    server: "jobs",
    scope: () => "here",
  });
  const { taskId } = await ids.toClient(of(0, "idp#ann"), "tools/call", { resultType: "task", taskId: "7" });
  // The groups of a user may change while a task runs.
  expect(await ids.toServer(of(0, "idp#ann", "admins"), { taskId })).toEqual({ taskId: "7" });
  for (const other of [of(0, "idp#bob"), of(1, "idp#ann")])
    await expect(ids.toServer(other, { taskId })).rejects.toThrow("unknown task");
});

test("clients that cannot use tasks are told why", () => {
  expect(() => serverOfTask({ ...call, era: "legacy" }, {}, servers)).toThrow(
    expect.objectContaining({
      message: "the gateway supports tasks only for modern clients",
      evidence: { rpc: { code: -32601 } },
    }),
  );
  expect(() => serverOfTask({ ...call, capabilities: {} }, {}, servers)).toThrow(
    expect.objectContaining({
      message: "the client does not declare tasks",
      evidence: { rpc: { code: -32021, data: { requiredCapabilities: { extensions } } } },
    }),
  );
});
