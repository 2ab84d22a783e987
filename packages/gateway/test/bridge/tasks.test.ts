import { join } from "node:path";
import { scaled, stdioServer, temporaryFolder, type WebReply, webServer } from "@fairlead/test-servers";
import type { JsonObject, Session } from "@fairlead/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClientTokens } from "../../src/tokens/client-tokens.ts";
import { type GatewayScene, gatewayScene } from "../support/gateway-scene.ts";

const declared = { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };
const work = { name: "work", arguments: {} };
/** The wire would follow the task itself. */
const raw = { input: "caller", tasks: "caller", capabilities: declared } as const;

let here: GatewayScene;
beforeAll(async () => {
  here = await gatewayScene({ servers: { jobs: stdioServer("tasks"), other: stdioServer("conformance") } });
});
afterAll(() => here[Symbol.asyncDispose]());

async function begin(client: Session): Promise<string> {
  const begun = await client.request("tools/call", work, raw);
  expect(begun).toMatchObject({ resultType: "task", status: "working", taskId: expect.any(String) });
  return String(begun["taskId"]);
}

test.for([undefined, "jobs"])(
  "a modern client follows the task of a modern server itself (address: %s)",
  async (only) => {
    await using here = await gatewayScene({
      servers: { jobs: stdioServer("tasks"), other: stdioServer("conformance") },
    });
    const client = await here.client({ era: "modern", capabilities: declared, ...(only !== undefined && { only }) });
    await client.request("tools/list");
    const { capabilities } = await client.request("server/discover");
    expect(capabilities).toMatchObject({ extensions: declared.extensions });
    const taskId = await begin(client);
    expect(taskId).toMatch(/^am9icw[.][\w-]{22}[.]task[.]\d+$/);
    const get = (id: string): Promise<JsonObject> => client.request("tasks/get", { taskId: id }, raw);
    expect(await get(taskId)).toMatchObject({
      taskId,
      status: "input_required",
      inputRequests: { who: { params: { message: only === undefined ? 'The server "jobs" asks: Who?' : "Who?" } } },
    });
    const inputResponses = { who: { action: "accept", content: { name: "Ada" } } };
    await client.request("tasks/update", { taskId, inputResponses }, raw);
    expect(await get(taskId)).toMatchObject({ status: "completed", result: { content: [{ text: "done for Ada" }] } });

    const second = await begin(client);
    await client.request("tasks/cancel", { taskId: second }, raw);
    expect(await get(second)).toMatchObject({ status: "cancelled" });
    const [server, code = "", ...id] = taskId.split(".");
    const otherCode = `${code.startsWith("A") ? "B" : "A"}${code.slice(1)}`;
    const guesses = [id, [server, ...id], [server, otherCode, ...id], [server, code, "task", "2"]];
    for (const unknown of ["nothing", "bm9uZQ.task.1", "", ...guesses.map((parts) => parts.join("."))])
      await expect(get(unknown)).rejects.toMatchObject({ evidence: { rpc: { code: -32602 } } });
    const bare = { ...raw, capabilities: {} };
    await expect(client.request("tasks/get", { taskId }, bare)).rejects.toMatchObject({
      evidence: { rpc: { code: -32021 } },
    });
  },
);

test.for(["legacy", "modern"] as const)("a %s client without tasks sees one call", async (era) => {
  const client = await here.client({
    era,
    capabilities: { elicitation: { form: {} } },
    answer: async () => ({ action: "accept", content: { name: "Ada" } }),
  });
  await client.request("tools/list");
  expect(await client.request("tools/call", work)).toMatchObject({ content: [{ text: "done for Ada" }] });
});

/** A modern server on the network: its numbered tasks outlive every gateway. */
function remoteTasks(): WebReply {
  let tasks = 0;
  const results: Readonly<Record<string, (params: JsonObject) => JsonObject>> = {
    "server/discover": () => ({
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {}, extensions: declared.extensions },
    }),
    "tools/list": () => ({ tools: [{ name: "work", inputSchema: { type: "object" } }] }),
    "tools/call"() {
      tasks += 1;
      return { resultType: "task", taskId: String(tasks), status: "working" };
    },
    "tasks/get": ({ taskId }) => ({ taskId, status: "working" }),
  };
  return ({ method, body }, response) => {
    if (method !== "POST") return void response.writeHead(405).end();
    const { id, method: called, params } = JSON.parse(body) as { id?: number; method: string; params: JsonObject };
    const result = results[called]?.(params);
    if (id === undefined || result === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", ...result } }));
  };
}

const unknownTask = { evidence: { rpc: { code: -32602 } } };

test("after a restart of the gateway, a task is still its client's, and unknown to all others", async () => {
  await using folder = await temporaryFolder();
  await using remote = await webServer(remoteTasks());
  const tokens = createClientTokens(join(folder.path, "tokens"));
  const authorizations = new Map<string, string>();
  for (const name of ["one", "other"]) authorizations.set(name, `Bearer ${await tokens.create(name)}`);
  const open = () =>
    gatewayScene({
      servers: { jobs: { httpUrl: remote.origin } },
      home: join(folder.path, "home"),
      work: join(folder.path, "work"),
      listen: { tokens },
    });
  const connect = (scene: GatewayScene, name: string, only: string | undefined) =>
    scene.client({
      era: "modern",
      capabilities: declared,
      headers: { authorization: authorizations.get(name) ?? "" },
      ...(only !== undefined && { only }),
    });
  const begun = new Map<string | undefined, string>();
  {
    await using before = await open();
    for (const only of [undefined, "jobs"]) {
      const one = await connect(before, "one", only);
      await one.request("tools/list");
      begun.set(only, await begin(one));
    }
    // A table of owners had room for 10 000 tasks.
    const other = await connect(before, "other", undefined);
    const [first = ""] = begun.values();
    for (let more = 0; more < scaled(10_100, 20); more += 1) await begin(other);
    await expect(other.request("tasks/get", { taskId: first }, raw)).rejects.toMatchObject(unknownTask);
  }
  await using after = await open();
  for (const [only, taskId] of begun) {
    const get = async (name: string): Promise<JsonObject> =>
      (await connect(after, name, only)).request("tasks/get", { taskId }, raw);
    await expect(get("other")).rejects.toMatchObject(unknownTask);
    expect(await get("one")).toMatchObject({ taskId, status: "working" });
  }
  const gets = remote.seen.filter(({ body }) => body.includes('"tasks/get"'));
  expect(gets).toHaveLength(2);
});

test("the id of a task whose program has ended is not the id of a new task with the same number", async () => {
  await using folder = await temporaryFolder();
  const tokens = createClientTokens(folder.path);
  await using scene = await gatewayScene({ servers: { jobs: stdioServer("tasks") }, listen: { tokens } });
  const connect = async (name: string): Promise<Session> => {
    const headers = { authorization: `Bearer ${await tokens.create(name)}` };
    const client = await scene.client({ era: "modern", capabilities: declared, headers });
    await client.request("tools/list");
    return client;
  };
  const [one, other] = [await connect("one"), await connect("other")];
  const old = await begin(one);
  expect(await one.request("tasks/get", { taskId: old }, raw)).toMatchObject({ taskId: old });
  await expect(one.request("tools/call", { ...work, arguments: { end: true } }, raw)).rejects.toThrow();
  const fresh = await begin(other);
  expect(fresh.split(".").slice(2)).toEqual(old.split(".").slice(2));
  await expect(one.request("tasks/get", { taskId: old }, raw)).rejects.toMatchObject(unknownTask);
  expect(await other.request("tasks/get", { taskId: fresh }, raw)).toMatchObject({ taskId: fresh });
});

test("a call that asks before its task starts, and a task with two questions, work through the gateway", async () => {
  const client = await here.client({ era: "modern", capabilities: declared });
  await client.request("tools/list");
  const ended = async (taskId: unknown): Promise<JsonObject> => {
    for (;;) {
      const task = await client.request("tasks/get", { taskId }, raw);
      if (task["status"] !== "working") return task;
    }
  };
  const call = { name: "test_tool_with_task", arguments: {} };
  const asked = await client.request("tools/call", call, raw);
  expect(asked).toMatchObject({ resultType: "input_required", inputRequests: { user_name: expect.anything() } });
  expect(asked).not.toHaveProperty("taskId");
  const { requestState } = asked;
  const inputResponses = { user_name: { action: "accept", content: { name: "Ada" } } };
  const begun = await client.request("tools/call", { ...call, inputResponses, requestState }, raw);
  expect(begun).toMatchObject({ resultType: "task", taskId: expect.any(String) });
  expect(begun).not.toHaveProperty("requestState");
  expect(await ended(begun["taskId"])).toMatchObject({
    status: "completed",
    result: { content: [{ text: "The task greets Ada." }] },
  });

  const { taskId } = await client.request("tools/call", { name: "multi_input", arguments: {} }, raw);
  const answer = (key: string, content: JsonObject) =>
    client.request("tasks/update", { taskId, inputResponses: { [key]: { action: "accept", content } } }, raw);
  expect(Object.keys(Object((await ended(taskId))["inputRequests"]))).toEqual(["name", "confirm"]);
  await answer("name", { name: "Ada" });
  expect(Object.keys(Object((await ended(taskId))["inputRequests"]))).toEqual(["confirm"]);
  await answer("confirm", { confirm: true });
  expect(await ended(taskId)).toMatchObject({ status: "completed" });
});

test("a client without tasks gets the result of a tool that runs only as a task", async () => {
  const client = await here.client({ era: "modern", capabilities: {} });
  await client.request("tools/list");
  const { isError, content } = await client.request("tools/call", { name: "failing_job", arguments: {} });
  expect([isError, content]).toEqual([true, [{ type: "text", text: "The job failed, as it should." }]]);
});
