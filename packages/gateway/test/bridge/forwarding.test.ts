import { stdioServer } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { deferred } from "../support/deferred.ts";
import { gatewayScene } from "../support/gateway-scene.ts";

const pairs = [
  ["legacy", "--legacy-only"],
  ["legacy", "--modern-only"],
  ["modern", "--legacy-only"],
  ["modern", "--modern-only"],
] as const;

test.for(pairs)(
  "progress, log messages, reads, prompts and completion: %s client, server with %s",
  async ([era, flag]) => {
    await using here = await gatewayScene({ servers: { fx: stdioServer("conformance", flag) } });
    const client = await here.client({ era, only: "fx" });
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
    const unknown = era === "modern" ? -32602 : expect.any(Number);
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
  },
);

test.for(pairs)("a cancelled call is cancelled at its server: %s client, server with %s", async ([era, flag]) => {
  await using here = await gatewayScene({ servers: { fx: stdioServer("conformance", flag) } });
  const client = await here.client({ era, only: "fx" });
  const waits = deferred<void>();
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
  expect(here.gateway.activity()).toBeGreaterThan(0);
  const idle = deferred<void>();
  const stop = here.gateway.onActivity(() => {
    // A legacy client's session stays.
    if (here.gateway.activity() === (era === "legacy" ? 1 : 0)) idle.resolve();
  });
  cancel.abort();
  await expect(running).rejects.toMatchObject({ code: "cancelled" });
  await idle.promise;
  stop();
});

test.for(pairs)("changes of lists and resources reach a %s client from a server with %s", async ([era, flag]) => {
  await using here = await gatewayScene({ servers: { fx: stdioServer("conformance", flag) } });
  const client = await here.client({ era, only: "fx" });
  /** How often each notification has come, and who waits for the next one. */
  const counts = new Map<string, number>();
  const waiting = new Set<() => void>();
  const listen = (method: string): void => {
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
  const notifications = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: [uri] };
  const end = new AbortController();
  const listening =
    era === "modern"
      ? client.request("subscriptions/listen", { notifications }, { onNotification: listen, signal: end.signal })
      : client.request("resources/subscribe", { uri });
  const settled = Promise.allSettled([listening]);
  if (era === "modern") await hear("notifications/subscriptions/acknowledged");
  else await listening;
  const call = (name: string) => client.request("tools/call", { name, arguments: {} });
  await call("test_trigger_tool_change");
  // The first notification may be about the connection that has just been made.
  for (let heard = 0, names: unknown[] = []; !names.includes("test_extra_tool"); ) {
    heard = await hear("notifications/tools/list_changed", heard);
    const { tools } = await client.request("tools/list");
    names = (tools as readonly JsonObject[]).map(({ name }) => name);
  }
  await call("test_update_watched_resource");
  await hear("notifications/resources/updated");
  end.abort();
  await settled;
});
