import { type JsonObject, WireError } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import { manualClock } from "../support/manual-clock.ts";
import { oneTool, scriptedSession } from "./scripted-session.ts";
import { dead, heldOpening, testClient } from "./test-client.ts";

describe("discovery that comes to nothing ends the connection", () => {
  const silent = { "prompts/list": { prompts: [] } };
  const capabilities = { tools: {}, prompts: {} };

  test("a list that never comes: late, naming the list, with what was left of the time to connect", async () => {
    const clock = manualClock();
    const opening = heldOpening();
    const { client, seen } = testClient(opening.open, { clock });
    const connecting = client.connect();
    await clock.pass(600);
    const asked: (string | undefined)[] = [];
    const explain = (error: unknown, unanswered?: string) => {
      asked.push(unanswered);
      return new HostError("connect_timeout", `did not answer ${unanswered}`, { cause: error });
    };
    opening.resolve({ ...scriptedSession({ answers: silent, capabilities }), explain });
    await connecting;
    const discovering = expect(client.discover()).rejects.toMatchObject({
      code: "connect_timeout",
      message: "did not answer tools/list",
    });
    await clock.pass(399);
    expect(client.getStatus()).toBe("connected");
    await clock.pass(1);
    await discovering;
    expect(asked).toEqual(["tools/list"]);
    expect(seen.slice(2)).toEqual([
      {
        name: "s",
        since: 1000,
        status: "disconnecting",
        because: { reason: "connect_timeout", message: "did not answer tools/list" },
      },
      {
        name: "s",
        since: 1000,
        status: "disconnected",
        reason: "connect_timeout",
        message: "did not answer tools/list",
      },
    ]);
  });

  test("the time in which a person signed in is not the server's", async () => {
    const clock = manualClock();
    const opening = heldOpening();
    const { client } = testClient(opening.open, { clock });
    const connecting = client.connect();
    await clock.pass(60_600);
    const timeoutClock = { ...clock, pausedFor: 60_000 };
    opening.resolve({ ...scriptedSession({ answers: {} }), timeoutClock });
    await connecting;
    const discovering = expect(client.discover()).rejects.toMatchObject({ code: "connect_timeout" });
    await clock.pass(399);
    expect(client.getStatus()).toBe("connected");
    await clock.pass(1);
    await discovering;
  });

  test("the same without an explanation of the session", async () => {
    const clock = manualClock();
    const { client } = testClient(async () => scriptedSession({ answers: {}, capabilities }), { clock });
    await client.connect();
    const discovering = expect(client.discover()).rejects.toMatchObject({
      code: "connect_timeout",
      message: '"s" timed out: no response to tools/list, prompts/list',
    });
    await clock.pass(1000);
    await discovering;
  });

  test("a server that dies meanwhile: with its cause, once nothing of it is left", async () => {
    let letGo = (): void => {};
    const closing = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const session = scriptedSession({ answers: {}, closing });
    const { client } = testClient(async () => session);
    await client.connect();
    let isOver = false;
    const discovering = expect(
      client.discover().finally(() => {
        isOver = true;
      }),
    ).rejects.toMatchObject({ code: "server_exited" });
    await new Promise(setImmediate);
    session.die(dead);
    await new Promise(setImmediate);
    expect([isOver, client.getStatus()]).toEqual([false, "disconnecting"]);
    letGo();
    await discovering;
    expect(client.state).toMatchObject({ status: "disconnected", reason: "server_exited" });
  });

  test("a server that offers nothing", async () => {
    const session = scriptedSession({ answers: { "tools/list": { tools: [] } } });
    const { client, statuses } = testClient(async () => session);
    await client.connect();
    const message = '"s": No prompts, tools, or resources found on the server';
    await expect(client.discover()).rejects.toMatchObject({ code: "no_capabilities", message });
    expect(client.state).toMatchObject({ status: "disconnected", reason: "no_capabilities", message });
    expect(statuses()).toEqual(["connecting", "connected", "disconnecting", "disconnected"]);
    expect(await session.closed).toBeUndefined();
  });

  test("a server that wants one to sign in only now", async () => {
    const refused = new WireError("unauthorized", "401", { httpStatus: 401 });
    const { client } = testClient(async () => scriptedSession({ answers: { "tools/list": refused } }));
    await client.connect();
    await expect(client.discover()).rejects.toMatchObject({ code: "auth_required" });
    expect(client.getStatus()).toBe("needs_auth");
  });

  test("unless it was called off, or everything had been read before", async () => {
    const answers: Record<string, JsonObject | WireError> = { ...oneTool };
    const { client } = testClient(async () => scriptedSession({ answers }));
    await client.connect();
    await client.discover();
    answers["tools/list"] = new WireError("rpc", "not now", { rpc: { code: -32603 } });
    await expect(client.discover()).rejects.toMatchObject({ message: '"s": not now' });
    expect(client.filteredCatalog?.offer.tools).toBe(1);
    delete answers["tools/list"];
    const stop = new AbortController();
    const discovering = expect(client.discover(stop.signal)).rejects.toMatchObject({
      code: "cancelled",
      message: 'reading the catalog of "s" was cancelled',
    });
    stop.abort();
    await discovering;
    expect(client.getStatus()).toBe("connected");
  });

  test("disconnected meanwhile, it says so", async () => {
    const { client } = testClient(async () => scriptedSession({ answers: {} }));
    await client.connect();
    const discovering = expect(client.discover()).rejects.toMatchObject({
      code: "unreachable",
      message: '"s" is disconnected',
    });
    await new Promise(setImmediate);
    await client.disconnect();
    await discovering;
    expect(client.state).toMatchObject({ status: "disconnected", reason: "lazy" });
  });
});
