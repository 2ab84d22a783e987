import { describe, expect, test } from "vitest";
import { type Agreement, type EraPlan, negotiate } from "../../src/eras/negotiate.ts";
import type { JsonObject } from "../../src/session.ts";
import { defaultTimes } from "../../src/target.ts";
import { failure, memoryServer, type OpenedRpc, rpcTo } from "../support/memory-server.ts";
import { clientInfo } from "../support/modern-session.ts";
import { hello } from "../support/scripted-server.ts";

interface Plan {
  readonly discover?: JsonObject;
  readonly initialize?: JsonObject;
}

interface PlannedServer extends AsyncDisposable, Pick<OpenedRpc, "diagnostics"> {
  readonly sent: readonly JsonObject[];
  readonly negotiate: (plan: EraPlan) => Promise<Agreement>;
}

/** A server in memory whose answers to the handshake are given. */
async function serverThat(answers: Plan): Promise<PlannedServer> {
  const server = memoryServer({
    onMessage({ id, method }, it) {
      const answer = method === "server/discover" ? answers.discover : answers.initialize;
      if (id !== undefined && answer !== undefined) it.say({ jsonrpc: "2.0", id, ...answer });
    },
  });
  const rpc = await rpcTo(server);
  const handshake = { rpc, options: { clientInfo }, times: defaultTimes, signal: undefined, oneStream: true };
  return {
    sent: server.sent,
    diagnostics: rpc.diagnostics,
    negotiate: (plan) => negotiate(handshake, plan, "stdio"),
    [Symbol.asyncDispose]: rpc.close,
  };
}

describe("a server of the legacy era", () => {
  test.each<[string, JsonObject]>([
    ["an error without a code", { error: { message: "what?" } }],
    ["an error of its own", { error: { code: -32000, message: "not initialized" } }],
    ["an empty result", { result: {} }],
    ["an answer to initialize", { result: hello }],
    ["no result", {}],
    [
      "a refusal of the version that names only older ones",
      { error: { code: -32022, message: "no", data: { supported: ["2025-06-18"] } } },
    ],
    ["a discovery that names only older versions", { result: { supportedVersions: ["2025-06-18"], capabilities: {} } }],
  ])("is recognised when it answers the probe with %s", async (_, how) => {
    await using server = await serverThat({ discover: how, initialize: { result: hello } });
    expect(await server.negotiate("auto")).toMatchObject({
      era: "legacy",
      greeting: { serverInfo: { name: "scripted" } },
    });
    expect(server.sent.map(({ method }) => method)).toEqual([
      "server/discover",
      "initialize",
      "notifications/initialized",
    ]);
  });
});

describe("an answer to initialize", () => {
  test.each([["2024-10-07"], ["2024-11-05"], ["2025-03-26"], ["2025-06-18"], ["2025-11-25"]])(
    "with %s is taken",
    async (version) => {
      await using server = await serverThat({ initialize: { result: { ...hello, protocolVersion: version } } });
      expect((await server.negotiate("legacy")).greeting.protocolVersion).toBe(version);
      expect(server.diagnostics).toEqual([]);
    },
  );

  test.each([["2023-01-01"], ["2099-12-31"]])("with the unknown version %s is taken with a remark", async (version) => {
    await using server = await serverThat({ initialize: { result: { ...hello, protocolVersion: version } } });
    expect((await server.negotiate("legacy")).greeting.protocolVersion).toBe(version);
    expect(server.diagnostics).toEqual([`the server chose the unknown protocol version ${version}`]);
  });

  test.each([["latest"], [1], [null], [undefined]])("with the version %j is none", async (version) => {
    await using server = await serverThat({ initialize: { result: { ...hello, protocolVersion: version } } });
    expect(await failure(server.negotiate("legacy"))).toMatchObject({
      code: "bad_message",
      evidence: { step: "initialize" },
    });
  });

  test.each([
    ["nothing", undefined, { name: "unknown", version: "unknown" }],
    ["null", null, { name: "unknown", version: "unknown" }],
    ["no version", { name: "a" }, { name: "a", version: "unknown" }],
    ["numbers", { name: 1, version: 2, title: 3 }, { name: "unknown", version: "unknown" }],
  ])("that says %s about the server is taken", async (_, serverInfo, expected) => {
    const result = { protocolVersion: "2025-06-18", serverInfo, capabilities: "none", instructions: 7 };
    await using server = await serverThat({ initialize: { result } });
    const { greeting } = await server.negotiate("legacy");
    expect(greeting).toMatchObject({ serverInfo: expected, capabilities: {} });
    expect(greeting.instructions).toBeUndefined();
  });
});
