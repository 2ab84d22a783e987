import { type JsonObject, WireError } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import type { ServerState } from "../../src/events.ts";
import type { Connection } from "../../src/server/connection.ts";
import { manualClock } from "../support/manual-clock.ts";
import { oneTool, scriptedSession } from "./scripted-session.ts";
import { dead, heldOpening, testClient } from "./test-client.ts";

test("connect, then discover: connected, first without and then with what it offers", async () => {
  const clock = manualClock();
  const { client, seen } = testClient(async () => scriptedSession(), { clock });
  expect(client.getStatus()).toBe("disconnected");
  await client.connect();
  const peer = {
    era: "legacy",
    protocolVersion: "2025-11-25",
    serverInfo: { name: "scripted", version: "1.0.0" },
    transport: "stdio",
  };
  expect(client.state).toEqual({ name: "s", since: 0, status: "connected", peer });
  expect(client.filteredCatalog).toBeUndefined();
  const filteredCatalog = await client.discover();
  expect(client.filteredCatalog).toBe(filteredCatalog);
  expect(filteredCatalog.catalog.tools.map(({ name }) => name)).toEqual(["echo"]);
  await client.disconnect();
  expect(client.filteredCatalog).toBeUndefined();
  expect(seen).toEqual([
    { name: "s", since: 0, status: "connecting" },
    { name: "s", since: 0, status: "connected", peer },
    {
      name: "s",
      since: 0,
      status: "connected",
      peer,
      offer: { tools: 1, prompts: 0, resources: 0, resourceTemplates: 0 },
    },
    { name: "s", since: 0, status: "disconnecting" },
    { name: "s", since: 0, status: "disconnected", reason: "lazy" },
  ]);
});

describe("guards", () => {
  test("connect is refused in every state but disconnected, naming the state", async () => {
    const opening = heldOpening();
    let letGo = (): void => {};
    const closing = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const { client } = testClient(opening.open);
    const refused = (status: string) =>
      expect(client.connect()).rejects.toMatchObject({
        code: "usage",
        message: `"s" is ${status}; it can be connected only while it is disconnected`,
        serverName: "s",
      });
    const connecting = client.connect();
    await refused("connecting");
    opening.resolve(scriptedSession({ closing }));
    await connecting;
    await refused("connected");
    const disconnecting = client.disconnect();
    await refused("disconnecting");
    letGo();
    await disconnecting;
    expect(client.getStatus()).toBe("disconnected");
  });

  test("connect is refused while signing in is asked for; disconnect forgets about it", async () => {
    const failure = new HostError("auth_required", "sign in", { next: "fairlead mcp auth s" });
    const { client } = testClient(() => Promise.reject(failure));
    await expect(client.connect()).rejects.toBe(failure);
    expect(client.state).toMatchObject({ status: "needs_auth", reason: "auth_required", next: "fairlead mcp auth s" });
    await expect(client.connect()).rejects.toMatchObject({ code: "usage" });
    await client.disconnect();
    expect(client.state).toMatchObject({ status: "disconnected", reason: "lazy" });
  });

  const requests: readonly [string, (client: Connection) => Promise<unknown>][] = [
    ["discover", (client) => client.discover()],
    ["callTool", (client) => client.callTool("echo", {})],
    ["getPrompt", (client) => client.getPrompt("p", {})],
    ["readResource", (client) => client.readResource("x://1")],
    ["complete", (client) => client.complete({})],
  ];

  test.each(requests)("%s is refused while nothing is connected, with the reason", async (_, ask) => {
    const { client } = testClient(() =>
      Promise.reject(new HostError("server_exited", "it is gone", { next: "look", evidence: "out of rope" })),
    );
    await expect(ask(client)).rejects.toMatchObject({ code: "unreachable", message: '"s" is disconnected' });
    await expect(client.connect()).rejects.toMatchObject({ code: "server_exited" });
    await expect(ask(client)).rejects.toMatchObject({
      code: "server_exited",
      message: "it is gone",
      next: "look",
      evidence: "out of rope",
      serverName: "s",
    });
  });
});

describe("requests", () => {
  const answers = {
    ...oneTool,
    "tools/call": { content: ["hi"], isError: false },
    "prompts/get": { messages: [{ role: "user", content: { type: "text", text: "teach" } }] },
    "resources/read": { contents: [{ uri: "x://1", text: "one" }] },
    "completion/complete": { completion: { values: ["a", 7, "b"], total: 9, hasMore: true } },
  };

  async function connected(more: Readonly<Record<string, JsonObject | WireError>> = {}) {
    const { client } = testClient(async () => scriptedSession({ answers: { ...answers, ...more } }));
    await client.connect();
    return client;
  }

  test("answers are put into shapes that can be relied on", async () => {
    const client = await connected();
    expect(await client.callTool("echo", {})).toEqual({
      content: [{ type: "text", text: "hi" }],
      isError: false,
      notes: ["a content block is a string"],
    });
    expect(await client.getPrompt("p", { a: "b" })).toMatchObject({ messages: [{ role: "user" }], notes: [] });
    expect(await client.readResource("x://1")).toMatchObject({ contents: [{ uri: "x://1", text: "one" }] });
    expect(await client.complete({})).toEqual({ values: ["a", "b"], total: 9, hasMore: true });
  });

  test("an answer without a completion completes nothing", async () => {
    const client = await connected({ "completion/complete": {} });
    expect(await client.complete({})).toEqual({ values: [], hasMore: false });
  });

  test("what goes wrong names the server and the tool, and the connection stays", async () => {
    const client = await connected({ "tools/call": new WireError("rpc", "no such rope", { rpc: { code: -1 } }) });
    await expect(client.callTool("echo", {})).rejects.toMatchObject({
      code: "tool_error",
      message: "s.echo: no such rope",
      serverName: "s",
    });
    expect(client.getStatus()).toBe("connected");
  });

  test("a server that dies takes its open calls with it, at once and with its own end as the cause", async () => {
    const session = scriptedSession();
    const { client } = testClient(async () => session);
    await client.connect();
    const calls = Promise.allSettled([client.callTool("echo", {}), client.readResource("x://1")]);
    session.die(dead);
    for (const call of await calls)
      expect(call).toMatchObject({
        status: "rejected",
        reason: { code: "lost", cause: { code: "server_exited", cause: dead } },
      });
  });
});

describe("the end of a server", () => {
  test("that dies while connected: disconnected, with its last words, once nothing of it is left", async () => {
    let letGo = (): void => {};
    const closing = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const session = scriptedSession({ closing });
    const explain = (error: unknown) =>
      new HostError("server_exited", "it is gone", { cause: error, evidence: "rope" });
    const { client, statuses } = testClient(async () => ({ ...session, explain }));
    await client.connect();
    await client.discover();
    session.die(dead);
    await new Promise(setImmediate);
    const because = { reason: "server_exited", message: "it is gone", evidence: "rope" };
    expect(client.state).toMatchObject({ status: "disconnecting", because });
    expect(client.filteredCatalog).toBeUndefined();
    letGo();
    await client.disconnect();
    expect(client.state).toMatchObject({ status: "disconnected", ...because });
    expect(statuses()).toEqual(["connecting", "connected", "connected", "disconnecting", "disconnected"]);
  });

  test("that died can be connected to again", async () => {
    const sessions = [scriptedSession(), scriptedSession()];
    const [first] = sessions;
    const { client } = testClient(async () => sessions.shift() ?? scriptedSession());
    await client.connect();
    first?.die(dead);
    await new Promise(setImmediate);
    expect(client.state).toMatchObject({ status: "disconnected", reason: "server_exited" });
    await client.connect();
    expect(client.getStatus()).toBe("connected");
    await client.discover();
    expect(client.filteredCatalog?.offer.tools).toBe(1);
  });

  test("that cannot be closed properly is an end all the same", async () => {
    const session = { ...scriptedSession(), close: () => Promise.reject(new Error("stuck")) };
    const { client } = testClient(async () => session);
    await client.connect();
    await client.disconnect();
    expect(client.getStatus()).toBe("disconnected");
  });

  test("disconnect may be called at any time, and as often as one likes", async () => {
    const { client, statuses } = testClient(async () => scriptedSession());
    await client.disconnect();
    await client.connect();
    await Promise.all([client.disconnect(), client.disconnect()]);
    await client.disconnect();
    expect(statuses()).toEqual(["connecting", "connected", "disconnecting", "disconnected"]);
  });
});

describe("who hears of a state may disconnect on the spot", () => {
  test.each<readonly ServerState["status"][]>([
    ["connecting", "disconnecting", "disconnected"],
    ["connecting", "connected", "disconnecting", "disconnected"],
  ])("%s, %s, %s, %s", async (...life) => {
    const seen: string[] = [];
    let over: Promise<void> | undefined;
    let inTheMiddle: Promise<string> | undefined;
    const session = scriptedSession();
    const { client } = testClient(async () => session, {
      onState({ status }) {
        seen.push(status);
        if (status === life.at(-3)) over = client.disconnect().then(() => client.disconnect());
        // Also in the middle of that.
        if (status === "disconnecting") inTheMiddle = client.disconnect().then(() => client.getStatus());
      },
    });
    await Promise.allSettled([client.connect()]);
    await over;
    expect(await inTheMiddle).toBe("disconnected");
    expect(seen).toEqual(life);
    await expect(client.discover()).rejects.toMatchObject({ code: "unreachable" });
  });
});

describe("disconnect while connecting", () => {
  test("calls the opening off and waits until nothing of it is left", async () => {
    const { client, statuses } = testClient(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => setImmediate(reject, new HostError("cancelled", "called off")));
        }),
    );
    const connecting = expect(client.connect()).rejects.toMatchObject({ code: "cancelled" });
    await new Promise(setImmediate);
    await client.disconnect();
    expect(client.state).toMatchObject({ status: "disconnected", reason: "lazy" });
    await connecting;
    expect(statuses()).toEqual(["connecting", "disconnecting", "disconnected"]);
  });

  test("closes a session that came about all the same", async () => {
    const opening = heldOpening();
    const session = scriptedSession();
    const { client, statuses } = testClient(opening.open);
    const connecting = expect(client.connect()).rejects.toMatchObject({
      code: "cancelled",
      message: '"s" was not connected: cancelled',
    });
    await new Promise(setImmediate);
    const disconnecting = client.disconnect();
    expect(opening.isCalledOff()).toBe(true);
    opening.resolve(session);
    await Promise.all([connecting, disconnecting]);
    expect(await session.closed).toBeUndefined();
    expect(statuses()).toEqual(["connecting", "disconnecting", "disconnected"]);
  });

  test("the caller's signal does the same, without a word about the server", async () => {
    const opening = heldOpening();
    const stop = new AbortController();
    const { client, statuses } = testClient(opening.open);
    const connecting = expect(client.connect(stop.signal)).rejects.toMatchObject({ code: "cancelled" });
    await new Promise(setImmediate);
    stop.abort();
    opening.resolve(scriptedSession());
    await connecting;
    expect(client.state).toMatchObject({ status: "disconnected", reason: "lazy" });
    expect(statuses()).toEqual(["connecting", "disconnected"]);
  });
});
