import { describe, expect, test } from "vitest";
import type { JsonObject, NegotiatedProtocol } from "../../src/session.ts";
import { failure } from "../support/memory-server.ts";
import { clientInfo } from "../support/modern-session.ts";
import {
  connectTo,
  discovered,
  echo,
  type How,
  initialized,
  legacyRefused,
  type Plan,
  unknownMethod,
} from "../support/scripted-server.ts";

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
      protocol: { era: "legacy", transport: "stdio" },
    });
    expect(await echo(session)).toEqual({ a: 1 });
    expect(server.notices()).toEqual(["start", "server/discover", "initialize", "notifications/initialized", "echo"]);
  });

  test("that is silent about the probe is opened in the same process after a while", async () => {
    await using server = await connectTo({ discover: "silent", initialize: initialized }, { times: { probe: 50 } });
    expect((await server.connecting).era).toBe("legacy");
    expect(await server.noticed("notifications/initialized")).toEqual([
      "start",
      "server/discover",
      "initialize",
      "notifications/initialized",
    ]);
  });

  test("that dies of the probe is started again, once, and not asked again", async () => {
    await using server = await connectTo({ discover: "die", initialize: initialized });
    expect(await echo(await server.connecting)).toEqual({ a: 1 });
    expect(server.notices()).toEqual([
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
    expect(server.notices().filter((line) => line === "start")).toHaveLength(2);
  });

  test("that starts slowly and then dies of the probe is started again as well", async () => {
    const plan: Plan = { delay: 300, discover: "die", initialize: initialized };
    await using server = await connectTo(plan, { times: { probe: 50 } });
    expect((await server.connecting).era).toBe("legacy");
    expect(server.notices().filter((line) => line === "start")).toHaveLength(2);
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
      expect(await server.noticed("notifications/initialized")).toEqual([
        "start",
        "initialize",
        "notifications/initialized",
      ]);
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

describe("a server of the modern era", () => {
  test("is recognised by its answer to the probe, and never asked to initialize", async () => {
    await using server = await connectTo({ discover: discovered, initialize: "die" });
    const session = await server.connecting;
    expect(session).toMatchObject({
      era: "modern",
      protocolVersion: "2026-07-28",
      serverInfo: { name: "memory", version: "1" },
      protocol: { era: "modern", transport: "stdio" },
    });
    expect(await echo(session)).toMatchObject({
      a: 1,
      _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
    });
    expect(server.notices()).toEqual(["start", "server/discover", "echo"]);
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
    expect(server.notices().filter((line) => line === "start")).toHaveLength(1);
  });

  test("that speaks both, and is slow, is started again to be spoken to in the modern era", async () => {
    await using server = await connectTo(
      { discover: { ...discovered, held: "once" }, initialize: initialized },
      { times: { probe: 2000 } },
    );
    expect((await server.connecting).era).toBe("modern");
    expect(server.notices().filter((line) => line === "start")).toHaveLength(2);
  });

  test("that speaks both is taken at its word when it has accepted initialize, and did not answer the probe", async () => {
    await using server = await connectTo(
      { discover: { ...discovered, held: true }, initialize: initialized },
      { times: { probe: 100 } },
    );
    expect((await server.connecting).era).toBe("legacy");
    await server.noticed("notifications/initialized");
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
      "speaks only an unknown version",
      { result: { supportedVersions: ["2031-01-01"], capabilities: {} } },
      "bad_message",
    ],
  ])("that %s is not asked to initialize", async (_, how, code) => {
    await using server = await connectTo({ discover: how, initialize: initialized });
    expect(await failure(server.connecting)).toMatchObject({ code, evidence: { step: "probe" } });
    expect(server.notices()).toEqual(["start", "server/discover"]);
    expect(server.left()).toEqual([]);
  });

  test("known to be modern is asked without haste", async () => {
    const era: NegotiatedProtocol = { era: "modern", transport: "stdio" };
    await using server = await connectTo(
      { discover: { ...discovered, after: 200 }, initialize: "die" },
      { era, times: { probe: 1 } },
    );
    expect((await server.connecting).era).toBe("modern");
    expect(server.notices()).toEqual(["start", "server/discover"]);
  });

  test("is required when the caller says so", async () => {
    await using server = await connectTo({ discover: unknownMethod, initialize: initialized }, { era: "modern" });
    expect(await failure(server.connecting)).toMatchObject({ code: "bad_message", evidence: { step: "probe" } });
    expect(server.notices()).toEqual(["start", "server/discover"]);
  });
});

describe("what was learnt and is not true any more", () => {
  test("a server that was modern is opened in the legacy era, in the same process", async () => {
    const era: NegotiatedProtocol = { era: "modern", transport: "stdio" };
    await using server = await connectTo({ discover: unknownMethod, initialize: initialized }, { era });
    expect((await server.connecting).protocol).toEqual({ era: "legacy", transport: "stdio" });
    expect(server.notices().filter((line) => line === "start")).toHaveLength(1);
  });

  test("a server that was legacy is probed when it refuses initialize, in the same process", async () => {
    const era: NegotiatedProtocol = { era: "legacy", transport: "stdio" };
    await using server = await connectTo({ discover: discovered, initialize: legacyRefused }, { era });
    expect((await server.connecting).era).toBe("modern");
    expect(server.notices()).toEqual(["start", "initialize", "server/discover"]);
  });

  test("if neither is true, the first refusal is what counts", async () => {
    const era: NegotiatedProtocol = { era: "legacy", transport: "stdio" };
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
