import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { connect } from "../src/connect.ts";
import type { JsonObject, Session } from "../src/session.ts";
import type { ConnectOptions, Verdict } from "../src/target.ts";
import { failure } from "./support/memory-server.ts";
import { clientInfo, discover } from "./support/modern-session.ts";
import { processesWith } from "./support/process-list.ts";
import { program } from "./support/stdio-server.ts";

type How = "silent" | "die" | { result?: unknown; error?: unknown; after?: number; last?: boolean };

interface Plan {
  readonly delay?: number;
  readonly discover?: How;
  readonly initialize?: How;
  readonly other?: How;
}

const hello: JsonObject = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: "scripted", version: "7", title: "Scripted" },
  instructions: "be kind",
};
const initialized: How = { result: hello };
const discovered: How = { result: discover };
const unknownMethod: How = { error: { code: -32601, message: "unknown method" } };
const legacyRefused: How = { error: { code: -32022, message: "no", data: { supported: ["2026-07-28"] } } };

/** Connects to a server that follows the plan; what it saw comes out of `notices`. */
async function connectTo(plan: Plan, options: Partial<ConnectOptions> = {}) {
  const folder = await temporaryFolder();
  const notices = await folder.write("notices", "");
  const target = program("scripted.mjs", JSON.stringify({ ...plan, notices }));
  const mark = `FAIRLEAD_TEST=${notices}`;
  const diagnostics: string[] = [];
  const connecting = connect(
    { ...target, env: { ...target.env, FAIRLEAD_TEST: notices } },
    {
      clientInfo,
      onDiagnostic: (text) => void diagnostics.push(text),
      ...options,
      times: { probe: 10_000, endGrace: 500, termGrace: 200, ...options.times },
    },
  );
  return {
    connecting,
    diagnostics,
    notices: async () => (await folder.read("notices")).split("\n").filter((line) => line !== ""),
    left: () => processesWith(mark),
    async [Symbol.asyncDispose]() {
      await connecting.then(
        (session) => session.close(),
        () => undefined,
      );
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A request that shows what the session really is: the server repeats it. */
async function echo(session: Session): Promise<unknown> {
  return (await session.request("echo", { a: 1 }))["params"];
}

describe("a server of the legacy era", () => {
  test("is asked once whether it is modern, and opened in the same process", async () => {
    await using server = await connectTo({ discover: unknownMethod, initialize: initialized });
    const session = await server.connecting;
    expect(session).toMatchObject({
      era: "legacy",
      protocolVersion: "2025-06-18",
      serverInfo: { name: "scripted", version: "7", title: "Scripted" },
      capabilities: { tools: { listChanged: true } },
      instructions: "be kind",
      verdict: { era: "legacy", transport: "stdio" },
    });
    expect(await echo(session)).toEqual({ a: 1 });
    expect(await server.notices()).toEqual([
      "start",
      "server/discover",
      "initialize",
      "notifications/initialized",
      "echo",
    ]);
  });

  test.each<[string, How]>([
    ["an error without a code", { error: { message: "what?" } }],
    ["an error of its own", { error: { code: -32000, message: "not initialized" } }],
    ["an empty result", { result: {} }],
    ["an answer to initialize", initialized],
    ["no result", {}],
    [
      "a refusal of the version that names only older ones",
      { error: { code: -32022, message: "no", data: { supported: ["2025-06-18"] } } },
    ],
    ["a discovery that names only older versions", { result: { supportedVersions: ["2025-06-18"], capabilities: {} } }],
  ])("is recognised when it answers the probe with %s", async (_, how) => {
    await using server = await connectTo({ discover: how, initialize: initialized });
    expect((await server.connecting).era).toBe("legacy");
    expect((await server.notices()).filter((line) => line === "start")).toHaveLength(1);
  });

  test("that is silent about the probe is opened in the same process after a while", async () => {
    await using server = await connectTo({ discover: "silent", initialize: initialized }, { times: { probe: 50 } });
    expect((await server.connecting).era).toBe("legacy");
    await expect.poll(server.notices).toEqual(["start", "server/discover", "initialize", "notifications/initialized"]);
  });

  test("that dies of the probe is started again, once, and not asked again", async () => {
    await using server = await connectTo({ discover: "die", initialize: initialized });
    expect(await echo(await server.connecting)).toEqual({ a: 1 });
    expect(await server.notices()).toEqual([
      "start",
      "server/discover",
      "start",
      "initialize",
      "notifications/initialized",
      "echo",
    ]);
    expect(server.left()).toHaveLength(1);
  });

  test("that answers the probe and dies of it all the same is started again as well", async () => {
    await using server = await connectTo({ discover: { ...unknownMethod, last: true }, initialize: initialized });
    expect(await echo(await server.connecting)).toEqual({ a: 1 });
    expect((await server.notices()).filter((line) => line === "start")).toHaveLength(2);
  });

  test("that starts slowly and then dies of the probe is started again as well", async () => {
    const plan: Plan = { delay: 300, discover: "die", initialize: initialized };
    await using server = await connectTo(plan, { times: { probe: 50 } });
    expect((await server.connecting).era).toBe("legacy");
    expect((await server.notices()).filter((line) => line === "start")).toHaveLength(2);
  });

  test("whose late answer to the probe says no is still opened", async () => {
    const plan: Plan = {
      discover: { ...unknownMethod, after: 100 },
      initialize: { ...initialized, after: 200 },
    };
    await using server = await connectTo(plan, { times: { probe: 20 } });
    expect((await server.connecting).era).toBe("legacy");
    expect(server.diagnostics).toEqual([]);
  });

  test("is not probed when the caller says so, or knew it before", async () => {
    for (const era of ["legacy", { era: "legacy", transport: "stdio" }] as const) {
      await using server = await connectTo({ discover: "die", initialize: initialized }, { era });
      expect((await server.connecting).era).toBe("legacy");
      await expect.poll(server.notices).toEqual(["start", "initialize", "notifications/initialized"]);
    }
  });

  test("is offered our newest version, and told who we are and what we can", async () => {
    const capabilities = { elicitation: {}, roots: { listChanged: true } };
    const sent: JsonObject[] = [];
    await using server = await connectTo(
      { initialize: initialized },
      { era: "legacy", capabilities, onMessage: (direction, message) => direction === "sent" && sent.push(message) },
    );
    await server.connecting;
    expect(sent).toEqual([
      {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities, clientInfo },
      },
      { jsonrpc: "2.0", method: "notifications/initialized" },
    ]);
  });
});

describe("an answer to initialize", () => {
  test.each([["2024-10-07"], ["2024-11-05"], ["2025-03-26"], ["2025-06-18"], ["2025-11-25"]])(
    "with %s is taken",
    async (version) => {
      await using server = await connectTo(
        { initialize: { result: { ...hello, protocolVersion: version } } },
        { era: "legacy" },
      );
      expect((await server.connecting).protocolVersion).toBe(version);
      expect(server.diagnostics).toEqual([]);
    },
  );

  test.each([["2023-01-01"], ["2099-12-31"]])("with the unknown version %s is taken with a remark", async (version) => {
    await using server = await connectTo(
      { initialize: { result: { ...hello, protocolVersion: version } } },
      { era: "legacy" },
    );
    expect((await server.connecting).protocolVersion).toBe(version);
    expect(server.diagnostics).toEqual([`the server chose protocol version ${version}, which is not known here`]);
  });

  test.each([["latest"], [1], [null], [undefined]])("with the version %j is none", async (version) => {
    await using server = await connectTo(
      { initialize: { result: { ...hello, protocolVersion: version } } },
      { era: "legacy" },
    );
    expect(await failure(server.connecting)).toMatchObject({ code: "bad_message", evidence: { step: "initialize" } });
    expect(server.left()).toEqual([]);
  });

  test.each([
    ["nothing", undefined, { name: "unknown", version: "unknown" }],
    ["null", null, { name: "unknown", version: "unknown" }],
    ["no version", { name: "a" }, { name: "a", version: "unknown" }],
    ["numbers", { name: 1, version: 2, title: 3 }, { name: "unknown", version: "unknown" }],
  ])("that says %s about the server is taken", async (_, serverInfo, expected) => {
    const result = { protocolVersion: "2025-06-18", serverInfo, capabilities: "none", instructions: 7 };
    await using server = await connectTo({ initialize: { result } }, { era: "legacy" });
    const session = await server.connecting;
    expect(session).toMatchObject({ serverInfo: expected, capabilities: {} });
    expect(session.instructions).toBeUndefined();
  });
});

describe("a server of the modern era", () => {
  test("is recognised by its answer to the probe, and never asked to initialize", async () => {
    await using server = await connectTo({ discover: discovered, initialize: "die" });
    const session = await server.connecting;
    expect(session).toMatchObject({
      era: "modern",
      protocolVersion: "2026-07-28",
      serverInfo: { name: "memory", version: "1" },
      verdict: { era: "modern", transport: "stdio" },
    });
    expect(await echo(session)).toMatchObject({
      a: 1,
      _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
    });
    expect(await server.notices()).toEqual(["start", "server/discover", "echo"]);
  });

  test.each<[string, Plan]>([
    ["refuses initialize after its late answer", { delay: 300, discover: discovered, initialize: legacyRefused }],
    [
      "refuses initialize before its late answer",
      { discover: { ...discovered, after: 300 }, initialize: legacyRefused },
    ],
    ["says nothing to initialize", { discover: { ...discovered, after: 100 }, initialize: "silent" }],
  ])("that is slow, and %s, is still recognised", async (_, plan) => {
    await using server = await connectTo(plan, { times: { probe: 50 } });
    expect((await server.connecting).era).toBe("modern");
    expect((await server.notices()).filter((line) => line === "start")).toHaveLength(1);
  });

  test("that speaks both is taken at its word when it has accepted initialize", async () => {
    await using server = await connectTo(
      { delay: 200, discover: discovered, initialize: initialized },
      { times: { probe: 20 } },
    );
    expect((await server.connecting).era).toBe("legacy");
    await expect.poll(server.notices).toContain("notifications/initialized");
  });

  test("that refuses our version once is asked again with one that it knows", async () => {
    let probes = 0;
    await using server = await connectTo(
      { discover: { error: { code: -32022, message: "no", data: { supported: ["2026-07-28"] } } }, initialize: "die" },
      {
        onMessage: (direction, message) => {
          if (direction === "sent" && message["method"] === "server/discover") probes += 1;
        },
      },
    );
    expect(await failure(server.connecting)).toMatchObject({
      code: "rpc",
      evidence: { rpc: { code: -32022 }, step: "probe" },
    });
    expect(probes).toBe(2);
    expect(server.left()).toEqual([]);
  });

  test.each<[string, How, string]>([
    ["needs what we do not offer", { error: { code: -32021, message: "elicitation is needed" } }, "rpc"],
    [
      "speaks only what nobody knows yet",
      { result: { supportedVersions: ["2031-01-01"], capabilities: {} } },
      "bad_message",
    ],
  ])("that %s is not asked to initialize", async (_, how, code) => {
    await using server = await connectTo({ discover: how, initialize: initialized });
    expect(await failure(server.connecting)).toMatchObject({ code, evidence: { step: "probe" } });
    expect(await server.notices()).toEqual(["start", "server/discover"]);
    expect(server.left()).toEqual([]);
  });

  test("known to be modern is asked without haste", async () => {
    const era: Verdict = { era: "modern", transport: "stdio" };
    await using server = await connectTo(
      { discover: { ...discovered, after: 200 }, initialize: "die" },
      { era, times: { probe: 1 } },
    );
    expect((await server.connecting).era).toBe("modern");
    expect(await server.notices()).toEqual(["start", "server/discover"]);
  });

  test("is required when the caller says so", async () => {
    await using server = await connectTo({ discover: unknownMethod, initialize: initialized }, { era: "modern" });
    expect(await failure(server.connecting)).toMatchObject({ code: "bad_message", evidence: { step: "probe" } });
    expect(await server.notices()).toEqual(["start", "server/discover"]);
  });
});

describe("what was learnt and is not true any more", () => {
  test("a server that was modern is opened in the legacy era, in the same process", async () => {
    const era: Verdict = { era: "modern", transport: "stdio" };
    await using server = await connectTo({ discover: unknownMethod, initialize: initialized }, { era });
    expect((await server.connecting).verdict).toEqual({ era: "legacy", transport: "stdio" });
    expect((await server.notices()).filter((line) => line === "start")).toHaveLength(1);
  });

  test("a server that was legacy is probed when it refuses initialize, in the same process", async () => {
    const era: Verdict = { era: "legacy", transport: "stdio" };
    await using server = await connectTo({ discover: discovered, initialize: legacyRefused }, { era });
    expect((await server.connecting).era).toBe("modern");
    expect(await server.notices()).toEqual(["start", "initialize", "server/discover"]);
  });

  test("if neither is true, the first refusal is what counts", async () => {
    const era: Verdict = { era: "legacy", transport: "stdio" };
    const refused: How = { error: { code: -32603, message: "no API key" } };
    await using server = await connectTo({ discover: unknownMethod, initialize: refused }, { era });
    expect(await failure(server.connecting)).toMatchObject({
      code: "rpc",
      message: "no API key",
      evidence: { step: "initialize" },
    });
    expect(server.left()).toEqual([]);
  });
});

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
    await expect.poll(server.notices).toContain(last);
    caller.abort(new Error("enough"));
    const error = await failure(server.connecting);
    expect(error).toMatchObject({ code: "cancelled" });
    expect(error.cause).toEqual(new Error("enough"));
    expect(server.left()).toEqual([]);
  });

  test("because the caller had given up before starts nothing", async () => {
    await using server = await connectTo({}, { signal: AbortSignal.abort() });
    expect(await failure(server.connecting)).toMatchObject({ code: "cancelled", evidence: { unsent: true } });
    expect(await server.notices()).toEqual([]);
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
