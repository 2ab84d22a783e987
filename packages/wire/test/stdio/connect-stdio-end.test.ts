import { describe, expect, test } from "vitest";
import { connect } from "../../src/connect.ts";
import type { JsonObject } from "../../src/session.ts";
import type { ConnectOptions } from "../../src/target.ts";
import { failure } from "../support/memory-server.ts";
import { clientInfo } from "../support/modern-session.ts";
import { connectTo, discovered, echo, initialized, type Plan, unknownMethod } from "../support/scripted-server.ts";
import { program } from "../support/stdio-server.ts";

describe("a connection that fails", () => {
  test.each<[string, Plan, Partial<ConnectOptions>, JsonObject]>([
    [
      "because the server exits while it is asked to initialize",
      { discover: unknownMethod, initialize: "die" },
      {},
      { code: "exited", evidence: { step: "initialize", exitCode: 3, stderr: "cannot live with initialize\n" } },
    ],
    [
      "because the server lives with no question at all",
      { discover: "die", initialize: "die" },
      {},
      { code: "exited", evidence: { step: "initialize", exitCode: 3, stderr: "cannot live with initialize\n" } },
    ],
    [
      "because the server is silent",
      { discover: "silent", initialize: "silent" },
      { times: { probe: 20, connect: 300 } },
      { code: "timeout", evidence: { step: "initialize" } },
    ],
    [
      "because the server refuses",
      { discover: unknownMethod, initialize: { error: { code: 1, message: "no API key" } } },
      {},
      { code: "rpc", message: "no API key", evidence: { step: "initialize", rpc: { code: 1 } } },
    ],
  ])("%s says why, and leaves nothing behind", async (_, plan, options, expected) => {
    await using server = await connectTo(plan, options);
    expect(await failure(server.connecting)).toMatchObject(expected);
    expect(server.left()).toEqual([]);
  });

  test("because there is no such command says so", async () => {
    const target = { ...program("scripted.mjs"), command: "/nowhere/at-all" };
    expect(await failure(connect(target, { clientInfo }))).toMatchObject({
      code: "spawn_failed",
      evidence: { step: "spawn" },
    });
  });

  test.each<[string, Plan]>([
    ["while the probe is open", { discover: "silent" }],
    ["while initialize is open", { discover: unknownMethod, initialize: "silent" }],
    ["while both are open", { discover: "silent", initialize: "silent" }],
  ])("because the caller gave up %s is cancelled, and leaves nothing behind", async (_, plan) => {
    const caller = new AbortController();
    await using server = await connectTo(plan, {
      signal: caller.signal,
      times: { probe: plan.discover === "silent" && plan.initialize === "silent" ? 20 : 10_000 },
    });
    const last = plan.initialize === undefined ? "server/discover" : "initialize";
    await server.noticed(last);
    caller.abort(new Error("enough"));
    const error = await failure(server.connecting);
    expect(error).toMatchObject({ code: "cancelled" });
    expect(error.cause).toEqual(new Error("enough"));
    expect(server.left()).toEqual([]);
  });

  test("because the caller had given up before starts nothing", async () => {
    await using server = await connectTo({}, { signal: AbortSignal.abort() });
    expect(await failure(server.connecting)).toMatchObject({ code: "cancelled", evidence: { unsent: true } });
    expect(server.notices()).toEqual([]);
  });
});

describe("a session", () => {
  test("outlives the signal that it was connected with", async () => {
    const caller = new AbortController();
    await using server = await connectTo(
      { discover: unknownMethod, initialize: initialized },
      { signal: caller.signal },
    );
    const session = await server.connecting;
    caller.abort();
    expect(await echo(session)).toEqual({ a: 1 });
  });

  test("ends with its process, and says so", async () => {
    await using server = await connectTo({ discover: unknownMethod, initialize: initialized, other: "die" });
    const session = await server.connecting;
    expect(await failure(session.request("tools/call", { name: "a" }))).toMatchObject({
      code: "exited",
      evidence: { exitCode: 3, stderr: "cannot live with tools/call\n", step: "tools/call" },
    });
    expect(await session.closed).toMatchObject({ code: "exited" });
    expect(await failure(session.request("x"))).toMatchObject({ code: "closed", evidence: { unsent: true } });
  });

  test("closed from here has no cause, and its process is gone", async () => {
    await using server = await connectTo({ discover: discovered });
    const session = await server.connecting;
    await session.close();
    expect(await session.closed).toBeUndefined();
    expect(server.left()).toEqual([]);
    expect(await failure(session.request("x"))).toMatchObject({ code: "closed" });
  });
});
