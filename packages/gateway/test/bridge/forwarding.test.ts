import { join } from "node:path";
import { deferred, stdioServer, temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GatewayScene, gatewayScene } from "../support/gateway-scene.ts";

const eras = ["legacy", "modern"] as const;
/** The era of the client, and that of the server, which has the same name. */
const pairs = eras.flatMap((era) => eras.map((server) => [era, server] as const));

const servers = {
  legacy: stdioServer("conformance", "--legacy-only"),
  modern: stdioServer("conformance", "--modern-only"),
};

let here: GatewayScene;
beforeAll(async () => {
  here = await gatewayScene({ servers });
});
afterAll(() => here[Symbol.asyncDispose]());

test.for(pairs)("progress, log messages, reads, prompts and completion: %s client, %s server", async ([era, only]) => {
  const client = await here.client({ era, only });
  const progress: number[] = [];
  await client.request(
    "tools/call",
    { name: "test_tool_with_progress", arguments: {} },
    { onProgress: (each) => progress.push(each.progress) },
  );
  expect(progress).toEqual([0, 50, 100]);

  const messages: unknown[] = [];
  if (era === "legacy") await client.request("logging/setLevel", { level: "info" });
  await client.request(
    "tools/call",
    { name: "test_tool_with_logging", arguments: {} },
    {
      ...(era === "modern" && { logLevel: "info" }),
      onNotification: (_, { data }) => messages.push(data),
    },
  );
  expect(messages).toEqual(["begins", "goes on", "ends"]);

  const { resources } = await client.request("resources/list");
  const [first] = resources as readonly JsonObject[];
  expect(await client.request("resources/read", { uri: first?.["uri"] })).toMatchObject({
    contents: [{ uri: first?.["uri"] }],
  });
  const unknown = era === "modern" ? -32602 : -32002;
  await expect(client.request("resources/read", { uri: "test://no-such-thing" })).rejects.toMatchObject({
    evidence: { rpc: { code: unknown } },
  });
  const { prompts } = await client.request("prompts/list");
  expect((prompts as readonly JsonObject[]).map(({ name }) => name)).toContain("test_prompt_with_arguments");
  expect(
    await client.request("prompts/get", { name: "test_prompt_with_arguments", arguments: { arg1: "a", arg2: "b" } }),
  ).toMatchObject({ messages: [expect.anything()] });
  expect(
    await client.request("completion/complete", {
      ref: { type: "ref/prompt", name: "test_prompt_with_arguments" },
      argument: { name: "arg1", value: "p" },
    }),
  ).toMatchObject({ completion: { values: expect.any(Array) } });
  await expect(client.request("tools/list", { cursor: "elsewhere" })).rejects.toMatchObject({
    evidence: { rpc: { code: -32602 } },
  });
  await expect(client.request("no/such/method")).rejects.toMatchObject({ evidence: { rpc: { code: -32601 } } });
});

test.for(pairs)("a cancelled call is cancelled at its server: %s client, %s server", async ([era, only]) => {
  // A gateway of its own: after a cancelled call, other clients may get servers of their own.
  await using here = await gatewayScene({ servers });
  const client = await here.client({ era, only });
  const waits = deferred<void>();
  const before = here.gateway.activity();
  const cancel = new AbortController();
  if (era === "legacy") await client.request("logging/setLevel", { level: "info" });
  const running = client.request(
    "tools/call",
    { name: "test_wait_for_cancel", arguments: {} },
    {
      signal: cancel.signal,
      ...(era === "modern" && { logLevel: "info" }),
      onNotification: (_, { data }) => data === "waits" && waits.resolve(),
    },
  );
  await waits.promise;
  expect(here.gateway.activity()).toBe(before + 1);
  const idle = deferred<void>();
  const stop = here.gateway.onActivity(() => here.gateway.activity() === before && idle.resolve());
  cancel.abort();
  await expect(running).rejects.toMatchObject({ code: "cancelled" });
  await idle.promise;
  stop();
});

test.for(pairs)("changes of lists and resources reach a %s client from a %s server", async ([era, only]) => {
  const client = await here.client({ era, only });
  /** How often each notification has come, and who waits for the next one. */
  const counts = new Map<string, number>();
  const waiting = new Set<() => void>();
  let acknowledged: JsonObject | undefined;
  const listen = (method: string, params: JsonObject = {}): void => {
    if (method === "notifications/subscriptions/acknowledged") acknowledged = params;
    counts.set(method, (counts.get(method) ?? 0) + 1);
    for (const wake of waiting) wake();
    waiting.clear();
  };
  const hear = async (method: string, after = 0): Promise<number> => {
    while ((counts.get(method) ?? 0) <= after) await new Promise<void>((resolve) => waiting.add(resolve));
    return counts.get(method) ?? 0;
  };
  client.onNotification(listen);
  const uri = "test://watched-resource";
  const notifications = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: [uri],
  };
  const end = new AbortController();
  const listening =
    era === "modern"
      ? client.request("subscriptions/listen", { notifications }, { onNotification: listen, signal: end.signal })
      : client.request("resources/subscribe", { uri });
  const settled = Promise.allSettled([listening]);
  if (era === "modern") {
    await hear("notifications/subscriptions/acknowledged");
    expect(acknowledged).toMatchObject({ notifications });
  } else await listening;
  const call = (name: string) => client.request("tools/call", { name, arguments: {} });
  const hasExtra = async (): Promise<boolean> => {
    const { tools } = await client.request("tools/list");
    return (tools as readonly JsonObject[]).some(({ name }) => name === "test_extra_tool");
  };
  const hadExtra = await hasExtra();
  await call("test_trigger_tool_change");
  // The first notification may be about the connection that has just been made.
  for (let heard = 0; (await hasExtra()) === hadExtra; ) heard = await hear("notifications/tools/list_changed", heard);
  await call("test_update_watched_resource");
  await hear("notifications/resources/updated");
  end.abort();
  await settled;
});

test.for(eras)("a %s client lists and calls the tools of both servers", async (era) => {
  const client = await here.client({ era });
  const { tools } = await client.request("tools/list");
  const names = (tools as readonly JsonObject[]).map(({ name }) => name);
  for (const name of ["test_simple_text", "modern__test_simple_text"]) {
    expect(names).toContain(name);
    expect(await client.request("tools/call", { name, arguments: {} })).toMatchObject({
      content: [{ type: "text", text: "A line of text." }],
    });
  }
});

test.for(pairs)(
  "a resource that changes at once after its subscription is reported: %s client, %s server",
  async ([era, only]) => {
    await using folder = await temporaryFolder();
    await using here = await gatewayScene({
      servers: { [only]: stdioServer("watched", only, join(folder.path, "notes"), "changing") },
    });
    const uri = "watched://it";
    const heard: string[] = [];
    const updated = deferred<void>();
    const listen = (method: string): void => {
      heard.push(method);
      if (method === "notifications/resources/updated") updated.resolve();
    };
    const client = await here.client({ era, only });
    await client.request("resources/list");
    const end = new AbortController();
    if (era === "legacy") {
      client.onNotification(listen);
      await client.request("resources/subscribe", { uri });
      await updated.promise;
      return;
    }
    const notifications = { resourceSubscriptions: [uri] };
    const listening = client.request(
      "subscriptions/listen",
      { notifications },
      { onNotification: listen, signal: end.signal },
    );
    const settled = Promise.allSettled([listening]);
    await updated.promise;
    expect(heard).toEqual(["notifications/subscriptions/acknowledged", "notifications/resources/updated"]);
    const idle = deferred<void>();
    const stop = here.gateway.onActivity(() => here.gateway.activity() === 0 && idle.resolve());
    end.abort();
    await settled;
    await idle.promise;
    stop();
  },
);

const needsName = "name must be a string that is not empty";
const needsUri = "uri must be a string that is not empty";

test.for(
  eras.flatMap((era) =>
    (
      [
        ["tools/call", {}, needsName],
        ["tools/call", { name: "" }, needsName],
        ["tools/call", { name: 5, arguments: {} }, needsName],
        ["tools/call", { name: "test_simple_text", arguments: [] }, "arguments must be an object"],
        ["prompts/get", {}, needsName],
        ["prompts/get", { name: null }, needsName],
        ["resources/read", {}, needsUri],
        ["resources/read", { uri: { not: "a string" } }, needsUri],
        ["completion/complete", {}, "ref must name a prompt (ref/prompt) or a resource (ref/resource)"],
      ] as const
    ).map((row) => [era, ...row] as const),
  ),
)("an invalid parameter of a %s client is named: %s %j", async ([era, method, params, problem]) => {
  const client = await here.client({ era });
  await expect(client.request(method, params)).rejects.toMatchObject({
    message: expect.stringContaining(`Invalid parameters of ${method}: ${problem}`),
    evidence: { rpc: { code: -32602 } },
  });
});
