import { hash } from "node:crypto";
import { join } from "node:path";
import { createOpenedHost } from "@fairlead/core/host";
import { canonicalJson } from "@fairlead/core/text/canonical-json";
import { deferred, stdioServer, temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import type { BridgeContext } from "../../src/bridge/bridge-context.ts";
import { type ClientEndpoint, createModernContexts, toEndpoint } from "../../src/bridge/modern-contexts.ts";
import { createResourceSubscriptions } from "../../src/bridge/subscriptions.ts";
import { approvedSubject, createApprovalStore } from "../../src/questions/approval-store.ts";
import type { ClientCall } from "../../src/questions/client-call.ts";
import { createClientTokens } from "../../src/tokens/client-tokens.ts";
import { handClock } from "../hand-clock.ts";
import { allowAll, gatewayScene } from "../support/gateway-scene.ts";
import { officialClient } from "../support/official-client.ts";
import { steppedClock } from "../support/stepped-clock.ts";

const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const raw = { input: "caller", tasks: "caller", capabilities: { ...tasks, sampling: {} } } as const;
const refused = (code: number) => ({ evidence: { rpc: { code } } });

test("a client on stdio can send many requests at once, and large ones", async () => {
  await using here = await gatewayScene({ servers: { fx: stdioServer("counted") } });
  await using one = await officialClient(here, "legacy");
  await one.client.listTools();
  const call = (text: string) => one.client.callTool({ name: "echo", arguments: { text } });
  const results = await Promise.all(Array.from({ length: 200 }, (_, at) => call(`${at}`)));
  expect(results.filter(({ isError }) => isError !== true)).toHaveLength(200);
  expect((await call("x".repeat(5_000_000))).isError).not.toBe(true);
});

test("a client that may not use a prompt or a resource gets no completions of it", async () => {
  const deny = (kind: string, client: string) =>
    `[[rule]]\nmcpName = "fx"\nkind = "${kind}"\nclient = "${client}"\ndecision = "deny"\npriority = 900\n`;
  await using here = await gatewayScene({ servers: { fx: stdioServer("conformance") } });
  const client = await here.client({ era: "legacy" });
  await client.request("prompts/list");
  const complete = (ref: JsonObject, argument: string): Promise<JsonObject> =>
    client.request("completion/complete", { ref, argument: { name: argument, value: "" } });
  const prompt = { type: "ref/prompt", name: "test_prompt_with_arguments" };
  const template = { type: "ref/resource", uri: "test://template/{id}/data" };
  await here.setRules(`${allowAll}\n${deny("prompt", "another")}`);
  expect(await complete(prompt, "arg1")).toHaveProperty("completion");
  await here.setRules(`${allowAll}\n${deny("prompt", "tester")}\n${deny("resource", "tester")}`);
  await expect(complete(prompt, "arg1")).rejects.toMatchObject(refused(-32010));
  await expect(complete(template, "id")).rejects.toMatchObject(refused(-32010));
});

test("a task of a shared server belongs to the client that began it", async () => {
  await using folder = await temporaryFolder();
  const tokens = createClientTokens(folder.path);
  await using here = await gatewayScene({ servers: { jobs: stdioServer("tasks") }, listen: { tokens } });
  const [one, other] = await Promise.all(
    ["one", "other"].map(async (name) =>
      here.client({
        era: "modern",
        capabilities: tasks,
        headers: { authorization: `Bearer ${await tokens.create(name)}` },
      }),
    ),
  );
  await one?.request("tools/list");
  const { taskId } = (await one?.request("tools/call", { name: "work", arguments: {} }, raw)) ?? {};
  for (const method of ["tasks/get", "tasks/cancel", "tasks/update"])
    await expect(other?.request(method, { taskId, inputResponses: {} }, raw)).rejects.toMatchObject(refused(-32602));
  expect(await one?.request("tasks/get", { taskId }, raw)).toMatchObject({ status: "input_required" });
});

test("a yes for a task's model request does not hold for another one with the same key", async () => {
  await using here = await gatewayScene({
    servers: { jobs: stdioServer("tasks") },
    rules: `${allowAll}\n[[rule]]\nmcpName = "jobs"\nkind = "sampling"\ndecision = "ask_user"\npriority = 900\n`,
  });
  const client = await here.client({ era: "modern", capabilities: raw.capabilities });
  await client.request("tools/list");
  const begin = (model: string): Promise<JsonObject> =>
    client.request("tools/call", { name: "work", arguments: { model } }, raw);
  const { taskId } = await begin("harmless");
  const get = (): Promise<JsonObject> => client.request("tasks/get", { taskId }, raw);
  await expect(get()).rejects.toMatchObject(refused(-32010));
  const [{ id } = { id: "" }] = await here.inbox.list();
  await here.inbox.answer(id, "once", "test");
  for (const _ of [1, 2]) expect(await get()).toMatchObject({ status: "input_required" });
  await begin("something else");
  await expect(get()).rejects.toMatchObject(refused(-32010));
});

test("a stored approval holds for the tool that the person saw, not for another tool with its name", async () => {
  const clock = steppedClock();
  await using here = await gatewayScene({
    servers: { fx: stdioServer("conformance") },
    rules: '[[rule]]\ntoolName = "*"\nmcpName = "*"\ndecision = "ask_user"\npriority = 500\n',
    clock,
  });
  const client = await here.client({ era: "modern" });
  await client.request("tools/list");
  const called = { name: "test_simple_text", arguments: {} };
  const approvals = createApprovalStore(join(here.state, "inbox-seals"), clock.date);
  const identity = hash("sha256", canonicalJson(["tester", "", "tools/call", called]));
  const callWith = async (subject: string): Promise<JsonObject> => {
    const requestState = await approvals.store(identity, { subject, state: undefined });
    return client.request("tools/call", { ...called, requestState, inputResponses: {} });
  };
  const { cwd, env } = here.workspace;
  const environment = { env, home: here.home, cwd, platform: process.platform };
  await using host = await createOpenedHost({ environment, lazy: true });
  const own = host.gateway.identify("fx") ?? { fingerprint: "", root: "" };
  for (const [name, seen] of [
    ["removed.test_simple_text", own],
    ["fx.test_simple_text", undefined],
    ["fx.test_simple_text", { ...own, root: "/elsewhere" }],
    ["fx.test_simple_text", { ...own, fingerprint: "another program" }],
  ] as const)
    expect(await callWith(approvedSubject(name, seen))).toMatchObject({ isError: true });
  expect(await callWith(approvedSubject("fx.test_simple_text", own))).not.toHaveProperty("isError");
});

function endpoint(only: string): ClientEndpoint {
  return toEndpoint({ client: { name: "x" }, workspace: { cwd: "/", env: {} } }, only);
}

test("addresses of servers that there are not leave nothing behind, and a conversation ends when it is idle", async () => {
  const clock = handClock();
  const opened: string[] = [];
  const closed: string[] = [];
  const contexts = createModernContexts({
    clock,
    open: async (_, conversation) => {
      opened.push(conversation);
      const close = async (): Promise<void> => void closed.push(conversation);
      return { view: () => ({ servers: ["files"] }), workspace: { close } } as unknown as BridgeContext;
    },
  });
  for (const only of ["a", "b", "c"]) (await contexts.enter(endpoint(only))).leave();
  await Promise.resolve();
  expect([opened.length, closed.length]).toEqual([3, 3]);
  const files = endpoint("files");
  const [first, second] = [await contexts.enter(files), await contexts.enter(files)];
  expect(first.context).toBe(second.context);
  first.leave();
  clock.pass(3_600_000);
  expect(contexts.find(files)).toBe(first.context);
  second.leave();
  clock.pass(1_700_000);
  (await contexts.enter(files)).leave();
  clock.pass(1_700_000);
  expect(contexts.find(files)).toBe(first.context);
  clock.pass(200_000);
  expect(contexts.find(files)).toBeUndefined();
  expect((await contexts.enter(files)).context).not.toBe(first.context);
  await contexts.close();
  expect(closed).toHaveLength(opened.length);
});

test("a client that subscribes to very many resources at once reaches the limit", async () => {
  let subscribed = 0;
  const gateway = {
    identify: () => undefined,
    async subscribe() {
      subscribed += 1;
      return { [Symbol.dispose]() {} };
    },
  };
  const context = {
    client: { name: "x", conversation: "1" },
    workspace: { host: { gateway }, connectionOf: async () => undefined, news: { onUpdated: () => () => {} } },
    consent: { port: () => undefined },
    targetOf: (uri: string) => ({ server: "one", uri }),
  } as unknown as BridgeContext;
  const subscriptions = createResourceSubscriptions(context, () => {});
  const call = { era: "legacy", capabilities: {} } as ClientCall;
  const added = await Promise.allSettled(Array.from({ length: 1100 }, (_, at) => subscriptions.add(call, `x:${at}`)));
  expect(added.filter(({ status }) => status === "fulfilled")).toHaveLength(1024);
  expect(subscribed).toBe(1024);
  subscriptions.close();
});

test("an unsubscribe that overtakes its subscribe ends the subscription", async () => {
  const opening = deferred<void>();
  let ended = 0;
  const subscribe = async () => {
    await opening.promise;
    return {
      [Symbol.dispose]: () => {
        ended += 1;
      },
    };
  };
  let update: (server: string, uri: string) => void = () => {};
  const onUpdated = (listener: typeof update): (() => void) => {
    update = listener;
    return () => {};
  };
  const updates: string[] = [];
  const context = {
    client: { name: "one" },
    workspace: {
      host: { gateway: { subscribe, identify: () => undefined } },
      connectionOf: async () => undefined,
      news: { onUpdated },
    },
    consent: { port: () => undefined },
    targetOf: () => ({ server: "one", uri: "own:1" }),
  } as unknown as BridgeContext;
  const subscriptions = createResourceSubscriptions(context, (uri) => updates.push(uri));
  const call = { era: "legacy", capabilities: {} } as ClientCall;
  const added = subscriptions.add(call, "x:1");
  update("one", "own:1");
  subscriptions.remove("x:1");
  opening.resolve();
  await added;
  update("one", "own:1");
  expect([ended, updates]).toEqual([1, []]);
  await subscriptions.add(call, "x:1");
  update("one", "own:1");
  update("other", "own:1");
  expect(updates).toEqual(["x:1"]);
  subscriptions.close();
});
