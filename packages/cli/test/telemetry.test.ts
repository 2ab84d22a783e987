/** What a collector gets of commands, of the background host that they use, and of the app's headless mode. */

import {
  type CollectedSpan,
  collector,
  programServer,
  spanTree,
  stdioServer,
  until,
  withErrors,
} from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { processesOf } from "./support/left-over.ts";
import { type Machine, machine, projectFile, userFile } from "./support/machine.ts";
import { runProcess } from "./support/process.ts";

const servers = { mcpServers: { t: stdioServer("traced", "legacy") } };
const traceId = "a".repeat(32);
const caller = { TRACEPARENT: `00-${traceId}-${"b".repeat(16)}-01`, TRACESTATE: "x=1" };

function lists(line: string): boolean {
  return line.includes("/list") || line.includes("initialize");
}

function treeOf(spans: readonly CollectedSpan[]): readonly string[] {
  return spanTree(spans, withErrors).filter((line) => !lists(line));
}

test("a command is one trace, below the span of its caller", async () => {
  await using there = await collector();
  await using here = await machine({ [userFile]: servers });
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: there.endpoint, ...caller };
  const { code, stdout, stderr } = await here.runWith({ env }, "call", "t.meta", "--alone");
  expect([code, stderr]).toEqual([0, ""]);
  expect(treeOf(there.spans())).toEqual([
    "internal fairlead call",
    "  internal fairlead connect",
    "  internal fairlead decide",
    "  client tools/call meta",
  ]);
  const root = there.spans().find(({ name }) => name === "fairlead call");
  const call = there.spans().find(({ name }) => name === "tools/call meta");
  expect(root).toMatchObject({ parentSpanId: "b".repeat(16), context: { traceId } });
  expect(JSON.parse(stdout)).toEqual({ traceparent: `00-${traceId}-${call?.context.spanId}-01`, tracestate: "x=1" });
  expect(there.metrics()).toEqual(["mcp.client.operation.duration", "mcp.client.session.duration"]);
  const { stdout: history } = await here.run("history", "--json", "--trace", traceId);
  expect(JSON.parse(history)).toMatchObject({ entries: [{ tool: "meta", traceId }] });
});

test("a command that fails says how in its span", async () => {
  await using there = await collector();
  await using here = await machine({ [userFile]: servers });
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: there.endpoint };
  expect((await here.runWith({ env }, "call", "t.fail", "--alone")).code).toBe(7);
  expect(treeOf(there.spans())).toEqual([
    "internal fairlead call [tool_error]",
    "  internal fairlead connect",
    "  internal fairlead decide",
    "  client tools/call fail [tool_error]",
  ]);
});

test("a wrong value is told once, and nothing fails; without a variable nothing is told", async () => {
  await using here = await machine({ [userFile]: servers });
  const wrong = { OTEL_EXPORTER_OTLP_ENDPOINT: "collector", OTEL_TRACES_SAMPLER: "some" };
  const { code, stderr } = await here.runWith({ env: wrong }, "call", "t.echo", "--alone");
  expect(code).toBe(0);
  expect(stderr.split("\n")).toEqual([
    "fairlead: telemetry: OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL, so nothing is sent there",
    expect.stringContaining("OTEL_TRACES_SAMPLER is unknown"),
    "",
  ]);
});

test("neither a .env file nor a workspace's settings can say where spans go", async () => {
  await using there = await collector();
  const variables = `OTEL_EXPORTER_OTLP_ENDPOINT=${there.endpoint}\nOTEL_TRACES_EXPORTER=otlp\n`;
  const fairlead = { telemetry: { endpoint: there.endpoint, arguments: true } };
  await using here = await machine({
    [userFile]: servers,
    [projectFile]: { fairlead },
    "project/.env": variables,
    "project/.gemini/.env": variables,
    "home/.env": variables,
    "home/.gemini/.env": variables,
  });
  const { code } = await here.runWith({ env: { FAIRLEAD_TRUST_WORKSPACE: "true" } }, "call", "t.echo", "--alone");
  expect(code).toBe(0);
  expect(there.requests).toEqual([]);
});

test("a command and the background host that it uses are one trace, and the call has one span", async () => {
  await using there = await collector();
  const mcpServers = { t: stdioServer("traced", "legacy"), g: programServer("growing") };
  await using here: Machine = await machine({ [userFile]: { mcpServers, fairlead: { background: "on" } } });
  const traced = { ...here, env: { ...here.env, OTEL_EXPORTER_OTLP_ENDPOINT: there.endpoint, ...caller } };
  const { code, stdout } = await runProcess(traced, "call", "t.meta");
  expect(code).toBe(0);
  await here.run("daemon", "stop");
  await until(() => processesOf(here).length === 0);
  const spans = there.spans();
  expect(treeOf(spans)).toEqual([
    "internal fairlead call",
    "  internal fairlead connect",
    "    internal fairlead connect",
    "  internal fairlead decide",
    "  client tools/call meta",
  ]);
  const call = spans.find(({ name }) => name === "tools/call meta");
  expect(new Set(spans.map(({ context }) => context.traceId))).toEqual(new Set([traceId]));
  expect(JSON.parse(stdout)).toMatchObject({ traceparent: `00-${traceId}-${call?.context.spanId}-01` });
});
