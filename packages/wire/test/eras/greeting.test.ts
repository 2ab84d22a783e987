import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { discover, type Handshake, initialize } from "../../src/eras/handshake.ts";
import { type EraPlan, negotiate } from "../../src/eras/negotiate.ts";
import { WireError, type WireErrorCode, type WireEvidence } from "../../src/errors.ts";
import type { JsonObject } from "../../src/session.ts";
import { defaultTimes } from "../../src/target.ts";
import { failure, type MemoryServer, memoryServer, rpcTo } from "../support/memory-server.ts";
import { clientInfo } from "../support/modern-session.ts";

type Answer = JsonObject | WireError | undefined;

interface Opened extends AsyncDisposable {
  readonly server: MemoryServer;
  readonly handshake: Handshake;
  readonly diagnostics: readonly string[];
  readonly methods: () => unknown[];
}

/** A server whose answers are given, by method, one after the other; an error is thrown when the message is sent. */
async function serverThat(
  answers: Readonly<Record<string, readonly Answer[]>>,
  { probe = 10_000, ...options }: Partial<Handshake> & { probe?: number } = {},
): Promise<Opened> {
  const counts = new Map<unknown, number>();
  const next = ({ method }: JsonObject): Answer => answers[String(method)]?.[counts.get(method) ?? 0];
  const server = memoryServer({
    onSend(message) {
      const answer = next(message);
      if (!(answer instanceof WireError)) return;
      counts.set(message["method"], (counts.get(message["method"]) ?? 0) + 1);
      throw answer;
    },
    onMessage(message, it) {
      const answer = next(message);
      counts.set(message["method"], (counts.get(message["method"]) ?? 0) + 1);
      if (answer === undefined || answer instanceof WireError || message["id"] === undefined) return;
      it.say({ jsonrpc: "2.0", id: message["id"], ...answer });
    },
  });
  const rpc = await rpcTo(server);
  const times = { ...defaultTimes, probe, connect: 7000 };
  const handshake = { rpc, options: { clientInfo }, times, signal: undefined, oneStream: true, ...options };
  return {
    server,
    handshake,
    diagnostics: rpc.diagnostics,
    methods: () => server.sent.map(({ method }) => method),
    [Symbol.asyncDispose]: rpc.close,
  };
}

const modern = {
  result: { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, serverInfo: { name: "m" } },
};
const legacy = {
  result: {
    protocolVersion: "2025-11-25",
    capabilities: { a: {} },
    serverInfo: { name: "l", version: "1", title: "L" },
  },
};
const unsupported = (...supported: readonly string[]): JsonObject => ({
  error: { code: -32022, message: "no", data: { supported } },
});
const unknownMethod = { error: { code: -32601, message: "what?" } };

describe("initialize", () => {
  test("is sent with the client's name, and followed by the notification", async () => {
    await using opened = await serverThat(
      { initialize: [legacy] },
      { options: { clientInfo, capabilities: { roots: {} } } },
    );
    expect(await initialize(opened.handshake, "2025-06-18")).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: { a: {} },
      serverInfo: { name: "l", version: "1", title: "L" },
    });
    const params = { protocolVersion: "2025-06-18", capabilities: { roots: {} }, clientInfo };
    expect(opened.server.sent).toEqual([
      { jsonrpc: "2.0", id: 1, method: "initialize", params },
      { jsonrpc: "2.0", method: "notifications/initialized" },
    ]);
    expect(opened.server.versions).toEqual(["2025-11-25"]);
  });

  test("declares no capabilities if there are none, and keeps the server's instructions", async () => {
    await using opened = await serverThat({ initialize: [{ result: { ...legacy.result, instructions: "be kind" } }] });
    expect(await initialize(opened.handshake, "2025-06-18")).toMatchObject({ instructions: "be kind" });
    expect(opened.server.sent[0]?.["params"]).toMatchObject({ capabilities: {} });
  });

  test.each(["2025-6-18", "x2025-06-18", "2025-06-18x", 20_250_618, { a: "x".repeat(200) }])(
    "that is answered with the version %j fails with that version in the error",
    async (protocolVersion) => {
      await using opened = await serverThat({ initialize: [{ result: { ...legacy.result, protocolVersion } }] });
      const error = await failure(initialize(opened.handshake, "2025-06-18"));
      expect([error.code, error.message, error.evidence]).toEqual([
        "bad_message",
        "the server's response to initialize has no protocolVersion",
        { step: "initialize", firstBytes: JSON.stringify(protocolVersion).slice(0, 100) },
      ]);
      expect(opened.methods()).toEqual(["initialize"]);
    },
  );

  test.each(["http_status", "rpc"] as const)("goes on if the server refuses the notification with %s", async (code) => {
    await using opened = await serverThat({
      initialize: [legacy],
      "notifications/initialized": [new WireError(code, "no thanks")],
    });
    expect(await initialize(opened.handshake, "2025-06-18")).toMatchObject({ protocolVersion: "2025-11-25" });
    expect(opened.diagnostics).toEqual(["the server refused notifications/initialized: no thanks"]);
  });

  test("fails if the notification is lost", async () => {
    const lost = new WireError("unreachable", "gone");
    await using opened = await serverThat({ initialize: [legacy], "notifications/initialized": [lost] });
    expect(await failure(initialize(opened.handshake, "2025-06-18"))).toBe(lost);
    expect(opened.diagnostics).toEqual([]);
  });

  test("limits the time of the notification only where each message has its own stream", async () => {
    const stop = new AbortController();
    for (const [oneStream, signal] of [
      [true, stop.signal],
      [false, undefined],
      [false, stop.signal],
    ] as const) {
      await using opened = await serverThat({ initialize: [legacy] }, { oneStream, signal });
      await initialize(opened.handshake, "2025-06-18");
      const given = opened.server.sendOptions[1]?.signal;
      expect(given === undefined).toBe(oneStream);
      if (signal && given) {
        stop.abort();
        expect(given.aborted).toBe(true);
      }
    }
  });
});

describe("server/discover", () => {
  test("is sent with the version in its parameters and headers", async () => {
    await using opened = await serverThat(
      { "server/discover": [modern] },
      { options: { clientInfo, capabilities: { roots: {} } } },
    );
    expect(await discover(opened.handshake, "http")).toEqual({
      era: "modern",
      greeting: {
        protocolVersion: "2026-07-28",
        serverInfo: { name: "m", version: "unknown" },
        capabilities: { tools: {} },
      },
    });
    expect(opened.server.sent).toEqual([
      {
        jsonrpc: "2.0",
        id: 1,
        method: "server/discover",
        params: {
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { roots: {} },
            "io.modelcontextprotocol/clientInfo": clientInfo,
          },
        },
      },
    ]);
    expect(opened.server.sendOptions[0]?.headers).toEqual({
      "mcp-method": "server/discover",
      "mcp-protocol-version": "2026-07-28",
    });
  });

  const legacyVersion = (proposedVersion: string): object => ({ era: "legacy", proposedVersion });
  test.each<[string, JsonObject, object]>([
    ["a result of any shape", { result: { ok: true } }, legacyVersion("2025-11-25")],
    ["complete, without versions", { result: { resultType: "complete" } }, { era: "modern" }],
    ["versions that are no list", { result: { supportedVersions: "2026-07-28" } }, legacyVersion("2025-11-25")],
    ["older versions", { result: { supportedVersions: ["2024-11-05", "2025-06-18"] } }, legacyVersion("2025-06-18")],
    [
      "older and newer versions",
      { result: { supportedVersions: ["2025-06-18", "2026-07-28"], resultType: "complete" } },
      { era: "modern", greeting: { protocolVersion: "2026-07-28" } },
    ],
    ["a refusal that names older versions", unsupported("2025-03-26", "2099-01-01"), legacyVersion("2025-03-26")],
    ["another error", unknownMethod, legacyVersion("2025-11-25")],
  ])("answered with %s shows the era", async (_, answer, discovery) => {
    await using opened = await serverThat({ "server/discover": [answer] });
    expect(await discover(opened.handshake, "stdio")).toMatchObject(discovery);
  });

  test("takes the server's name from _meta first", async () => {
    const _meta = { "io.modelcontextprotocol/serverInfo": { name: "meta", version: "2" } };
    await using opened = await serverThat({ "server/discover": [{ result: { ...modern.result, _meta } }] });
    expect(await discover(opened.handshake, "stdio")).toMatchObject({
      greeting: { serverInfo: { name: "meta", version: "2" } },
    });
  });

  test("is sent again with a version that the server names", async () => {
    await using opened = await serverThat({ "server/discover": [unsupported("2026-07-28", "2025-11-25"), modern] });
    expect(await discover(opened.handshake, "stdio")).toMatchObject({ era: "modern" });
    expect(opened.methods()).toEqual(["server/discover", "server/discover"]);
  });

  test("fails if there is no common version", async () => {
    await using opened = await serverThat({ "server/discover": [{ result: { supportedVersions: ["2099-01-01"] } }] });
    const error = await failure(discover(opened.handshake, "stdio"));
    expect([error.code, error.message, error.evidence]).toEqual([
      "bad_message",
      "the server supports no protocol version that Fairlead supports",
      { step: "server/discover", firstBytes: '["2099-01-01"]' },
    ]);
    await using other = await serverThat({ "server/discover": [unsupported("2099-01-01")] });
    expect(await failure(discover(other.handshake, "stdio"))).toMatchObject({ evidence: { rpc: { code: -32022 } } });
    await using mismatch = await serverThat({ "server/discover": [{ error: { code: -32020, message: "headers" } }] });
    expect(await failure(discover(mismatch.handshake, "http"))).toMatchObject({ evidence: { rpc: { code: -32020 } } });
  });

  test.each<[WireErrorCode, WireEvidence, "stdio" | "http", boolean]>([
    ["bad_message", {}, "stdio", true],
    ["stream_lost", {}, "stdio", false],
    ["http_status", { httpStatus: 404 }, "stdio", false],
    ["bad_message", {}, "http", true],
    ["stream_lost", {}, "http", true],
    ["http_status", { httpStatus: 404 }, "http", true],
    ["http_status", { httpStatus: 499 }, "http", true],
    ["http_status", { httpStatus: 500 }, "http", false],
    ["http_status", {}, "http", false],
    ["timeout", {}, "http", false],
    ["rpc", { rpc: { code: -32601 } }, "http", true],
    ["rpc", { rpc: { code: -32601 }, httpStatus: 499 }, "http", true],
    ["rpc", { rpc: { code: -32601 }, httpStatus: 500 }, "http", false],
    ["rpc", { rpc: { code: -32021 } }, "http", false],
  ])("that fails with %s %j over %s proves the legacy era: %s", async (code, evidence, transport, isLegacy) => {
    const thrown = new WireError(code, "no", { step: "server/discover", ...evidence });
    await using opened = await serverThat({ "server/discover": [thrown] });
    const discovered = discover(opened.handshake, transport);
    if (isLegacy) expect(await discovered).toEqual(legacyVersion("2025-11-25"));
    else expect(await failure(discovered)).toBe(thrown);
  });
});

describe("a plan", () => {
  const discoverOnly = ["server/discover"];
  const initializeOnly = ["initialize", "notifications/initialized"];
  test.each<[EraPlan, "stdio" | "http" | "sse", readonly unknown[], string]>([
    ["legacy", "stdio", initializeOnly, "legacy"],
    ["auto", "sse", initializeOnly, "legacy"],
    ["modern", "sse", initializeOnly, "legacy"],
    ["auto", "stdio", discoverOnly, "modern"],
    ["auto", "http", discoverOnly, "modern"],
    ["modern", "http", discoverOnly, "modern"],
    ["modern-first", "stdio", discoverOnly, "modern"],
    ["legacy-first", "http", initializeOnly, "legacy"],
  ])("%s over %s sends %j to a server of both eras", async (plan, transport, methods, era) => {
    await using opened = await serverThat({ "server/discover": [modern], initialize: [legacy] });
    expect(await negotiate(opened.handshake, plan, transport)).toMatchObject({ era });
    expect(opened.methods()).toEqual(methods);
  });

  test("modern fails with a legacy server, in the step probe", async () => {
    await using opened = await serverThat({ "server/discover": [unknownMethod], initialize: [legacy] });
    const error = await failure(negotiate(opened.handshake, "modern", "stdio"));
    expect([error.code, error.message, error.evidence]).toEqual([
      "bad_message",
      "the server does not support protocol version 2026-07-28 or later",
      { step: "probe" },
    ]);
  });

  test.each(["auto", "modern-first"] as const)("%s proposes the version that a legacy server names", async (plan) => {
    for (const transport of ["stdio", "http"] as const) {
      await using opened = await serverThat({ "server/discover": [unsupported("2025-03-26")], initialize: [legacy] });
      expect(await negotiate(opened.handshake, plan, transport)).toMatchObject({ era: "legacy" });
      expect(opened.server.sent[1]?.["params"]).toMatchObject({ protocolVersion: "2025-03-26" });
    }
  });

  test.each(["rpc", "http_status", "bad_message"] as const)(
    "legacy-first tries the modern era after a failure with %s",
    async (code) => {
      const refused = new WireError(code, "no", { step: "initialize" });
      await using opened = await serverThat({ initialize: [refused], "server/discover": [modern] });
      expect(await negotiate(opened.handshake, "legacy-first", "http")).toMatchObject({ era: "modern" });
      for (const discovered of [unknownMethod, new WireError("timeout", "late")]) {
        await using none = await serverThat({ initialize: [refused], "server/discover": [discovered] });
        expect(await failure(negotiate(none.handshake, "legacy-first", "http"))).toBe(refused);
      }
    },
  );

  test("legacy-first fails at once if the server cannot be reached", async () => {
    const lost = new WireError("unreachable", "gone", { step: "initialize" });
    await using opened = await serverThat({ initialize: [lost], "server/discover": [modern] });
    expect(await failure(negotiate(opened.handshake, "legacy-first", "http"))).toBe(lost);
    expect(opened.server.sent).toEqual([]);
  });

  test("auto over stdio fails in the step probe if the probe is lost", async () => {
    await using cut = await serverThat({
      "server/discover": [new WireError("stream_lost", "cut")],
      initialize: [legacy],
    });
    expect(await failure(negotiate(cut.handshake, "auto", "stdio"))).toMatchObject({ code: "stream_lost" });
    const lost = new WireError("exited", "gone", { exitCode: 3 });
    await using opened = await serverThat({ "server/discover": [lost] });
    const error = await failure(negotiate(opened.handshake, "auto", "stdio"));
    expect([error.code, error.message, error.evidence]).toEqual(["exited", "gone", { exitCode: 3, step: "probe" }]);
  });
});

describe("a stdio server that is slow to answer the probe", () => {
  /** Sends initialize right after the probe. */
  const slow = { probe: 0 };

  test("and answers initialize is a legacy server", async () => {
    await using opened = await serverThat({ initialize: [legacy] }, slow);
    expect(await negotiate(opened.handshake, "auto", "stdio")).toEqual({
      era: "legacy",
      greeting: {
        protocolVersion: "2025-11-25",
        capabilities: { a: {} },
        serverInfo: { name: "l", version: "1", title: "L" },
      },
    });
    expect(opened.methods()).toEqual(["server/discover", "initialize", "notifications/initialized"]);
  });

  test("and then answers the probe and initialize has both eras", async () => {
    await using opened = await serverThat({}, slow);
    const agreed = negotiate(opened.handshake, "auto", "stdio");
    const { server } = opened;
    await server.heard("initialize");
    server.say({ jsonrpc: "2.0", id: 1, ...modern }, { jsonrpc: "2.0", id: 2, ...legacy });
    expect(await agreed).toMatchObject({ era: "legacy", isAlsoModern: true, greeting: { serverInfo: { name: "l" } } });
  });

  test("and refuses initialize because of its version is a modern server", async () => {
    await using opened = await serverThat({ initialize: [unsupported("2026-07-28")] }, slow);
    const agreed = negotiate(opened.handshake, "auto", "stdio");
    const { server } = opened;
    await server.heard("initialize");
    server.say({ jsonrpc: "2.0", id: 1, ...modern });
    expect(await agreed).toMatchObject({ era: "modern", greeting: { serverInfo: { name: "m" } } });
  });

  test("and refuses the probe and initialize fails with the error of initialize", async () => {
    await using opened = await serverThat({ initialize: [{ error: { code: 7, message: "no legacy" } }] }, slow);
    const failed = failure(negotiate(opened.handshake, "auto", "stdio"));
    await opened.server.heard("initialize");
    opened.server.say({ jsonrpc: "2.0", id: 1, ...unknownMethod });
    expect(await failed).toMatchObject({ message: "no legacy", evidence: { step: "initialize", rpc: { code: 7 } } });
  });

  test("and answers only the probe is a modern server", async () => {
    for (const initialized of [undefined, { error: { code: 7, message: "no legacy" } }]) {
      await using opened = await serverThat({}, slow);
      const agreed = negotiate(opened.handshake, "auto", "stdio");
      await opened.server.heard("initialize");
      opened.server.say({ jsonrpc: "2.0", id: 1, ...modern });
      if (initialized) opened.server.say({ jsonrpc: "2.0", id: 2, ...initialized });
      expect(await agreed).toMatchObject({ era: "modern", greeting: { serverInfo: { name: "m" } } });
    }
  });

  test("and refuses initialize without an answer to the probe fails", async () => {
    await using opened = await serverThat({ initialize: [{ error: { code: 7, message: "no legacy" } }] }, slow);
    expect(await failure(negotiate(opened.handshake, "auto", "stdio"))).toMatchObject({ message: "no legacy" });
    const lost = new WireError("exited", "gone", { step: "initialize" });
    await using gone = await serverThat({ initialize: [lost] }, slow);
    expect(await failure(negotiate(gone.handshake, "auto", "stdio"))).toBe(lost);
  });

  test("is abandoned when the caller aborts", async () => {
    const stop = new AbortController();
    await using opened = await serverThat({}, { signal: stop.signal, ...slow });
    const failed = failure(negotiate(opened.handshake, "auto", "stdio"));
    await opened.server.heard("initialize");
    stop.abort("enough");
    expect(await failed).toMatchObject({ code: "cancelled", cause: "enough" });
    expect(opened.methods()).toEqual(["server/discover", "initialize"]);
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  });
});
