import { stdioServer } from "@fairlead/test-servers";
import { expect, test, vi } from "vitest";
import { gatewayScene } from "../support/gateway-scene.ts";

const broken = { command: "no-such-program-anywhere", args: [] };

test.for([
  ["tools/list", "tools/call", "echo"],
  ["prompts/list", "prompts/get", "test_simple_prompt"],
] as const)(
  "after a reload replaced a server by one that cannot start, a call after %s says why it cannot",
  async ([list, method, name]) => {
    const program = method === "tools/call" ? stdioServer("counted") : stdioServer("conformance", "--legacy-only");
    await using here = await gatewayScene({ servers: { s: program, other: stdioServer("counted") } });
    const client = await here.client({ era: "legacy" });
    expect(JSON.stringify(await client.request(list))).toContain(`"${name}"`);
    await here.setSettings({ mcpServers: { s: broken, other: stdioServer("counted") } });
    await vi.waitFor(async () => expect(JSON.stringify(await client.request(list))).not.toContain(`"${name}"`), {
      timeout: 30_000,
    });
    const failure = client.request(method, { name, arguments: {} });
    await expect(failure).rejects.toMatchObject({
      message: expect.stringContaining("no-such-program-anywhere"),
      evidence: { rpc: { data: { server: "s", next: expect.any(String) } } },
    });
  },
);

test.for([
  ["tools/list", "tools/call", { name: "echo" }, "no longer offered"],
  ["prompts/list", "prompts/get", { name: "test_simple_prompt" }, "no longer offered"],
  ["resources/list", "resources/read", { uri: "test://static-text" }, "no configured server lists this resource"],
] as const)(
  "after a reload removed a server, a request after %s says that nothing offers it",
  async ([list, method, params, why]) => {
    const program = method === "tools/call" ? stdioServer("counted") : stdioServer("conformance", "--legacy-only");
    const other = stdioServer("well-behaved");
    await using here = await gatewayScene({ servers: { s: program, other } });
    const client = await here.client({ era: "legacy" });
    const [shown] = Object.values(params);
    expect(JSON.stringify(await client.request(list))).toContain(`"${shown}"`);
    await here.setSettings({ mcpServers: { other } });
    await vi.waitFor(async () => expect(JSON.stringify(await client.request(list))).not.toContain(`"${shown}"`), {
      timeout: 30_000,
    });
    const failure = await client.request(method, { arguments: {}, ...params }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      message: expect.stringContaining(why),
      evidence: { rpc: { code: method === "resources/read" ? -32002 : -32602 } },
    });
  },
);

test("a reload tells a client once, and only of the lists that are other than those that it has", async () => {
  const server = stdioServer("counted");
  await using here = await gatewayScene({ servers: { s: server } });
  const client = await here.client({ era: "legacy" });
  for (const list of ["tools", "prompts", "resources"]) await client.request(`${list}/list`);
  const told: string[] = [];
  let wake = (): void => {};
  client.onNotification((method) => {
    told.push(method);
    wake();
  });
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  const replaced = { s: { ...server, env: { CHANGED: "yes" } } };
  let waiting = next();
  await here.setSettings({ mcpServers: replaced });
  await waiting;
  // The client's list starts the replaced server, and has its tools already.
  expect(JSON.stringify(await client.request("tools/list"))).toContain('"echo"');
  waiting = next();
  await here.setSettings({ mcpServers: replaced, fairlead: { clients: { tester: { tools: ["s.ask"] } } } });
  await waiting;
  expect(JSON.stringify(await client.request("tools/list"))).not.toContain('"echo"');
  expect(told).toEqual(["notifications/tools/list_changed", "notifications/tools/list_changed"]);
});
