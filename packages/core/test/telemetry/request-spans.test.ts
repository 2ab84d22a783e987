/** The spans of one request, whatever becomes of it, and what the history and the server learn of them. */

import { join } from "node:path";
import { spanTree, stdioServer, type TemporaryFolder, temporaryFolder, withErrors } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { openHost } from "../../src/host.ts";
import { type Host, ToolConfirmationOutcome } from "../../src/index.ts";
import { createLedger, ledgerFolder } from "../../src/policy/ledger/ledger.ts";
import { type EndedSpan, OwnTelemetry, type OwnTelemetryOptions } from "../../src/telemetry/own-telemetry.ts";
import { samplerOf } from "../../src/telemetry/sampler.ts";
import { loadConfiguration } from "../../src/trust/configuration.ts";

interface Desk extends AsyncDisposable {
  readonly host: Host;
  readonly telemetry: OwnTelemetry;
  readonly spans: EndedSpan[];
  readonly folder: TemporaryFolder;
}

type Given = Pick<NonNullable<Parameters<typeof openHost>[1]>, "confirm" | "sample"> &
  Pick<OwnTelemetryOptions, "sampler" | "parent"> & { readonly fairlead?: object; readonly era?: string };

async function open({ fairlead, era = "legacy", sampler, parent, ...options }: Given = {}): Promise<Desk> {
  const folder = await temporaryFolder();
  const { path: home } = folder;
  const environment = { env: { PATH: process.env["PATH"] }, home, cwd: home, platform: process.platform };
  const entry = { ...stdioServer("traced", era), env: { SECRET_TOKEN: "hunter2hunter2" } };
  const userSettings = JSON.stringify({ mcpServers: { s: entry }, fairlead });
  const configuration = await loadConfiguration({ environment, workspace: false, userSettings });
  const spans: EndedSpan[] = [];
  const telemetry = new OwnTelemetry({ onSpan: (span) => spans.push(span), parent, ...(sampler && { sampler }) });
  const host = openHost(configuration, { telemetry, ...options });
  await host.start();
  spans.length = 0;
  return {
    host,
    telemetry,
    spans,
    folder,
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const { ProceedOnce, Cancel } = ToolConfirmationOutcome;

test("a call of a program or a person is decided, then sent; the server and the history get its ids", async () => {
  await using desk = await open();
  const { content } = await desk.host.call("s", "meta");
  const [, call, run] = desk.spans;
  expect(spanTree(desk.spans)).toEqual([
    "internal fairlead run",
    "  internal fairlead decide",
    "  client tools/call meta",
  ]);
  expect(content).toEqual([
    { type: "text", text: JSON.stringify({ traceparent: `00-${call?.context.traceId}-${call?.context.spanId}-01` }) },
  ]);
  expect(desk.spans[0]?.attributes).toEqual({
    "fairlead.server": "s",
    "fairlead.client": undefined,
    "fairlead.decision": "allow",
    "fairlead.rule": "the default for your own requests allows it",
  });
  expect(run?.attributes["fairlead.outcome"]).toBe("ok");
  await desk.host.flushHistory();
  const ledger = createLedger({
    folder: ledgerFolder(join(desk.folder.path, ".fairlead")),
    keepArguments: () => false,
    now: Date.now,
  });
  expect((await ledger.read()).map(({ traceId }) => traceId)).toEqual([run?.context.traceId]);
});

test.each(["legacy", "modern"])("starting a %s server is a span with its greeting and its lists", async (era) => {
  await using desk = await open({ era });
  await desk.host.restart(["s"]);
  expect(spanTree(desk.spans)).toEqual([
    "internal fairlead connect",
    `  client ${era === "modern" ? "server/discover" : "initialize"}`,
    "  client tools/list",
    "  client prompts/list",
    "  client resources/list",
    "  client resources/templates/list",
  ]);
});

test("reads and prompts have spans without the address in their names", async () => {
  await using desk = await open();
  await desk.host.readResource("s", "traced://it");
  await desk.host.getPrompt("s", "hello");
  expect(spanTree(desk.spans.filter(({ kind }) => kind === "client"))).toEqual([
    "client resources/read",
    "client prompts/get hello",
  ]);
  const [, read, , , prompt] = desk.spans;
  expect(read?.attributes["mcp.resource.uri"]).toBe("traced://it");
  expect(prompt?.attributes["gen_ai.prompt.name"]).toBe("hello");
});

test("the time that a person needs is a span of its own, so that it is not the server's", async () => {
  await using desk = await open({ confirm: async () => ProceedOnce });
  await desk.host.callAsModel("meta", {});
  expect(spanTree(desk.spans)).toEqual([
    "internal fairlead run",
    "  internal fairlead decide",
    "  internal fairlead ask",
    "  client tools/call meta",
  ]);
  expect(desk.spans[1]?.attributes).toMatchObject({
    "fairlead.approval.wait_ms": expect.any(Number),
    "fairlead.approval.answer": "yes",
  });
});

test("a call that a person or a rule denies is not sent", async () => {
  await using desk = await open({
    confirm: async () => Cancel,
    fairlead: { permissions: { denyTools: ["echo"] } },
  });
  await expect(desk.host.callAsModel("meta", {})).rejects.toMatchObject({ code: "denied" });
  await expect(desk.host.call("s", "echo")).rejects.toMatchObject({ code: "denied" });
  expect(spanTree(desk.spans, withErrors)).toEqual([
    "internal fairlead run [denied]",
    "  internal fairlead decide",
    "  internal fairlead ask",
    "internal fairlead run [denied]",
    "  internal fairlead decide",
  ]);
  expect(desk.spans.findLast(({ name }) => name === "fairlead decide")?.attributes).toMatchObject({
    "fairlead.decision": "deny",
    "fairlead.rule": expect.stringContaining("denyTools"),
  });
});

test("a failed call has the type of its error: of the tool, of JSON-RPC, a timeout, cancelled", async () => {
  await using desk = await open();
  const { host } = desk;
  await host.call("s", "fail");
  await expect(host.call("s", "wrong")).rejects.toThrow("no wrong here");
  await expect(host.call("s", "wait", {}, { timeout: 50 })).rejects.toMatchObject({ code: "call_timeout" });
  const stop = new AbortController();
  const cancelled = host.call("s", "wait", {}, { signal: stop.signal, onProgress: () => stop.abort() });
  await expect(cancelled).rejects.toMatchObject({ code: "cancelled" });
  expect(
    spanTree(
      desk.spans.filter(({ name }) => name !== "fairlead decide"),
      withErrors,
    ),
  ).toEqual([
    "internal fairlead run [tool_error]",
    "  client tools/call fail [tool_error]",
    "internal fairlead run [arguments_invalid]",
    "  client tools/call wrong [-32602]",
    "internal fairlead run [timeout]",
    "  client tools/call wait [timeout]",
    "internal fairlead run [cancelled]",
    "  client tools/call wait [cancelled]",
  ]);
  const metric = desk.telemetry.metrics.collect().metrics.find(({ name }) => name === "mcp.client.operation.duration");
  const types = metric?.kind === "histogram" ? metric.points.map(({ attributes }) => attributes["error.type"]) : [];
  expect(types).toEqual(expect.arrayContaining([undefined, "tool_error", "-32602", "timeout", "cancelled"]));
});

test("a sampling request of a server is a request that Fairlead serves", async () => {
  await using desk = await open();
  const { telemetry, spans } = desk;
  const spansOf = telemetry.tracing({ content: () => ({ arguments: false, results: false }), hide: (text) => text });
  const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  const request = spansOf.request({ kind: "sampling", serverName: "s", args: { _meta: { traceparent } } });
  request.ended("denied", new Error("no"));
  expect(spanTree(spans, withErrors)).toEqual(["server sampling/createMessage [denied]", "  internal fairlead decide"]);
  expect(spans[1]).toMatchObject({ parentSpanId: "b".repeat(16), context: { traceId: "a".repeat(32) } });
});

test("arguments and results are in spans only if the settings say so, bounded and without secrets", async () => {
  const call = { text: "my token is hunter2hunter2", long: "x".repeat(100_000) };
  async function callSpan(fairlead: object): Promise<EndedSpan | undefined> {
    await using desk = await open({ fairlead });
    await desk.host.call("s", "echo", call);
    return desk.spans.find(({ kind }) => kind === "client");
  }
  const plain = JSON.stringify((await callSpan({}))?.attributes);
  expect(plain).not.toContain("my token");
  const { attributes } = (await callSpan({ telemetry: { arguments: true, results: true } })) ?? {};
  const { "gen_ai.tool.call.arguments": args = "", "gen_ai.tool.call.result": result = "" } = attributes ?? {};
  for (const shown of [args, result]) {
    expect(shown).toContain("my token is");
    expect(shown).not.toContain("hunter2");
    expect(String(shown).length).toBeLessThan(17_000);
  }
});

test("a trace that the caller does not sample is not exported, but is passed on and measured", async () => {
  const parent = { traceId: "a".repeat(32), spanId: "b".repeat(16), isSampled: false, traceState: "x=1" };
  await using desk = await open({ parent });
  const { content } = await desk.host.call("s", "meta");
  expect(desk.spans).toEqual([]);
  expect(content).toEqual([
    {
      type: "text",
      text: expect.stringMatching(/"00-a{32}-(?!b{16})[0-9a-f]{16}-00\\?","tracestate":"x=1"/),
    },
  ]);
  expect(desk.telemetry.metrics.collect().metrics.map(({ name }) => name)).toContain("mcp.client.operation.duration");
});

test.each([
  ["always_off", undefined, true, false],
  ["always_on", undefined, false, true],
  ["parentbased_always_off", undefined, true, true],
  ["parentbased_always_off", undefined, undefined, false],
  ["traceidratio", "0", true, false],
  ["parentbased_traceidratio", "0.5", undefined, true],
  ["parentbased_traceidratio", "0.1", undefined, false],
] as const)("the sampler %s %s with a parent that is sampled: %s", (name, argument, isParentSampled, isSampled) => {
  const traceId = `${"0".repeat(24)}40000000`;
  const parent = isParentSampled === undefined ? undefined : { traceId, spanId: "1", isSampled: isParentSampled };
  expect(samplerOf(name, argument)?.(parent, traceId)).toBe(isSampled);
});

test.each([
  ["parentbased_unknown", undefined],
  ["traceidratio", "2"],
  ["traceidratio", "half"],
])("there is no sampler %s %s", (name, argument) => {
  expect(samplerOf(name, argument)).toBeUndefined();
});
