import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import type { Part } from "../../src/normalise/model-types.ts";
import { createAllowList } from "../../src/registry/allow-list.ts";
import type { ToolBinding } from "../../src/registry/binding.ts";
import { ToolConfirmationOutcome } from "../../src/registry/confirmation.ts";
import { DiscoveredMCPTool } from "../../src/registry/discovered-tool.ts";
import { manualClock } from "../support/manual-clock.ts";
import { callable, sampleTool } from "../support/sample-tools.ts";

const never = { tool: async () => ({}), callTool: () => new Promise<never>(() => undefined) };
const answering = (...parts: readonly Part[]) => ({ tool: async () => ({}), callTool: async () => [...parts] });

describe("a tool's names", () => {
  test("its own is made valid; an override comes first", () => {
    expect(sampleTool("s", "read file").name).toBe("read_file");
    expect(sampleTool("s", "read file", { nameOverride: "my reader" }).name).toBe("my_reader");
  });

  test("the qualified one", () => {
    const tool = sampleTool("docs server", "read");
    expect(tool.getFullyQualifiedPrefix()).toBe("docs server__");
    expect(tool.asFullyQualifiedTool().name).toBe("docs_server__read");
    expect(sampleTool("s".repeat(40), "t".repeat(40)).asFullyQualifiedTool().name).toBe(
      `${"s".repeat(28)}___${"t".repeat(32)}`,
    );
  });

  test("a copy under another name is the same tool in everything else", async () => {
    const mcpTool = callable();
    const facts = {
      title: "Read",
      annotations: { readOnlyHint: true },
      outputSchema: { type: "object" },
      timeout: 5000,
      trust: true,
      description: "Reads.",
    };
    const copy = sampleTool("s", "read", { mcpTool, ...facts }).named("x");
    expect(copy).toMatchObject({ name: "x", serverName: "s", serverToolName: "read", ...facts });
    await copy.execute({ a: 1 });
    expect(mcpTool.calls).toEqual([{ name: "read", args: { a: 1 } }]);
  });
});

describe("a tool's schema", () => {
  const raw = { type: "object", properties: { path: { type: "string" } }, additionalProperties: false };

  test("is compiled for the model, and the server's own is kept", () => {
    const tool = sampleTool("s", "read", { description: "Reads.", parameterSchemaJson: raw });
    expect(tool.schema).toEqual({
      name: "read",
      description: "Reads.",
      parametersJsonSchema: { type: "object", properties: { path: { type: "string" } } },
    });
    expect([tool.parameterSchemaJson, tool.parameterSchema]).toEqual([raw, raw]);
    expect(tool.repairs.map(({ keyword }) => keyword)).toEqual(["additionalProperties"]);
  });

  test("is compiled once for all copies", () => {
    const tool = sampleTool("s", "read", { parameterSchemaJson: raw });
    expect(tool.named("x").schema.parametersJsonSchema).toBe(tool.schema.parametersJsonSchema);
  });

  test("that cannot be used is an error that names the tool and the reason", () => {
    const tool = sampleTool("s", "read", { compile: () => ({ kind: "quarantined", reason: "it is a bomb" }) });
    expect(() => tool.schema).toThrow(
      new HostError("quarantined", "s.read cannot be offered to a model: it is a bomb", { serverName: "s" }),
    );
    expect([tool.quarantine, tool.repairs]).toEqual(["it is a bomb", []]);
  });
});

describe("without a host, confirmation", () => {
  test("is not needed for a trusted tool", async () => {
    expect(await sampleTool("s", "t", { trust: true }).shouldConfirmExecute({})).toBe(false);
  });

  test("shows what will run, as it is at that moment", async () => {
    const args = { action: "delete", paths: ["a"] };
    const tool = sampleTool("untrusted", "dangerous", {
      description: "Deletes.",
      annotations: { destructiveHint: true },
    });
    const details = await tool.named("x").shouldConfirmExecute(args, new AbortController().signal);
    args.paths.push("b");
    expect(details).toEqual({
      type: "mcp",
      title: "Confirm MCP Tool Execution",
      serverName: "untrusted",
      toolName: "dangerous",
      toolDisplayName: "x",
      description: "Deletes.",
      args: { action: "delete", paths: ["a"] },
      annotations: { destructiveHint: true },
      outcomes: ["proceed_once", "proceed_always_tool", "proceed_always_server", "cancel"],
      onConfirm: expect.any(Function),
    });
    expect(details && [details.args, details.args["paths"]].every(Object.isFrozen)).toBe(true);
  });

  const { ProceedOnce, ProceedAlwaysServer, ProceedAlwaysTool, Cancel } = ToolConfirmationOutcome;
  // Which tools of a list that they share need no confirmation any more after this answer about "b.c" of "a".
  test.each([
    [ProceedOnce, []],
    [Cancel, []],
    [ProceedAlwaysTool, ["a|b.c"]],
    [ProceedAlwaysServer, ["a|b.c", "a|x"]],
  ])("%s allows %j", async (outcome, allowed) => {
    const allowList = createAllowList();
    const tools = [sampleTool("a", "b.c"), sampleTool("a", "x"), sampleTool("a.b", "c")].map(
      ({ serverName, serverToolName }) => sampleTool(serverName, serverToolName, { allowList }),
    );
    const details = await tools[0]?.named("y").shouldConfirmExecute({});
    if (details) await details.onConfirm(outcome);
    const free: string[] = [];
    for (const tool of tools)
      if ((await tool.shouldConfirmExecute({})) === false) free.push(`${tool.serverName}|${tool.serverToolName}`);
    expect(free).toEqual(allowed);
  });

  test("is remembered by the tool and its copies, and by no other", async () => {
    const tool = sampleTool("s", "t");
    const details = await tool.asFullyQualifiedTool().shouldConfirmExecute({});
    if (details) await details.onConfirm(ProceedAlwaysServer);
    expect(await tool.shouldConfirmExecute({})).toBe(false);
    expect(await tool.named("x").shouldConfirmExecute({})).toBe(false);
    expect(await sampleTool("s", "t").shouldConfirmExecute({})).not.toBe(false);
  });

  test("takes the first answer", async () => {
    const tool = sampleTool("s", "t");
    const details = await tool.shouldConfirmExecute({});
    if (details) await details.onConfirm(Cancel);
    if (details) await details.onConfirm(ProceedAlwaysTool);
    expect(await tool.shouldConfirmExecute({})).not.toBe(false);
  });

  test("is refused for what could never be sent", async () => {
    await expect(sampleTool("s", "t").shouldConfirmExecute({ run: 1n })).rejects.toMatchObject({
      code: "arguments_invalid",
      message: "Invalid parameters: must be JSON",
    });
  });
});

describe("a call without a host", () => {
  test("goes out under the server's own name and comes back for model and person", async () => {
    const mcpTool = callable("42");
    const result = await sampleTool("s", "read file", { mcpTool, nameOverride: "x" }).execute({ path: "a" });
    expect(mcpTool.calls).toEqual([{ name: "read file", args: { path: "a" } }]);
    expect(result.returnDisplay).toBe("42");
    expect(result.llmContent.map(({ text }) => text).join("")).toContain("42");
    expect(result.error).toBeUndefined();
  });

  test("restores the names of arguments that had to be changed for the model, also where a person is asked", async () => {
    const mcpTool = callable();
    const compile = () => ({
      kind: "compiled" as const,
      schema: { type: "object" },
      repairs: [],
      restore: ({ a_b, ...others }: Record<string, unknown>) => ({ ...others, "a b": a_b }),
    });
    const tool = sampleTool("s", "t", { mcpTool, compile });
    expect(await tool.shouldConfirmExecute({ a_b: 1, c: 2 })).toMatchObject({ args: { "a b": 1, c: 2 } });
    await tool.execute({ a_b: 1, c: 2 });
    expect(mcpTool.calls).toEqual([{ name: "t", args: { "a b": 1, c: 2 } }]);
  });

  test.each([[undefined], [null], ["x"], [1], [[]]])("with %j for arguments never leaves", async (params) => {
    const mcpTool = callable();
    const tool = sampleTool("s", "t", { mcpTool });
    const refusal = { code: "arguments_invalid", message: "Invalid parameters: must be an object", serverName: "s" };
    await expect(tool.execute(params)).rejects.toMatchObject(refusal);
    await expect(tool.shouldConfirmExecute(params)).rejects.toMatchObject(refusal);
    expect(mcpTool.calls).toEqual([]);
  });

  test("that takes too long ends with the time that it had", async () => {
    const clock = manualClock();
    const tool = sampleTool("s", "t", { mcpTool: never, timeout: 5000, clock });
    const outcome = expect(tool.execute({})).rejects.toMatchObject({
      code: "call_timeout",
      message: "s.t timed out: no result within 5000 ms; the request may or may not have run",
      serverName: "s",
    });
    await clock.pass(5000);
    await outcome;
  });

  test("can be cancelled", async () => {
    const stop = new AbortController();
    const outcome = expect(sampleTool("s", "t", { mcpTool: never }).execute({}, stop.signal)).rejects.toMatchObject({
      code: "cancelled",
      message: "s.t was cancelled",
    });
    stop.abort();
    await outcome;
  });

  test("that was cancelled beforehand never leaves", async () => {
    const mcpTool = callable();
    await expect(sampleTool("s", "t", { mcpTool }).execute({}, AbortSignal.abort())).rejects.toMatchObject({
      code: "cancelled",
    });
    expect(mcpTool.calls).toEqual([]);
  });

  test("leaves neither a timer nor a listener behind", async () => {
    const running = new Set<() => void>();
    const clock = {
      now: () => 0,
      after(_: number, action: () => void) {
        running.add(action);
        return () => running.delete(action);
      },
    };
    const { signal } = new AbortController();
    await sampleTool("s", "t", { timeout: 5000, clock }).execute({}, signal);
    expect([running.size, getEventListeners(signal, "abort")]).toEqual([0, []]);
  });

  test("that fails in the callable fails with its error", async () => {
    const failure = new Error("no route");
    const mcpTool = { tool: async () => ({}), callTool: () => Promise.reject(failure) };
    await expect(sampleTool("s", "t", { mcpTool }).execute({})).rejects.toBe(failure);
  });

  test("needs someone to make it", async () => {
    const tool = new DiscoveredMCPTool({
      serverName: "s",
      serverToolName: "t",
      description: "",
      parameterSchemaJson: {},
    });
    await expect(tool.execute({})).rejects.toMatchObject({ code: "usage" });
  });
});

describe("a tool's own error is an answer", () => {
  const content = [{ type: "text", text: "no such file" }];
  test.each([
    ["isError", { isError: true, content }, true],
    ["isError as text", { isError: "true", content }, true],
    ["the older form", { error: { isError: true }, content }, true],
    ["the older form as text", { error: { isError: "true" }, content }, true],
    ["an error of any form", { error: "no such file" }, true],
    ["an error object", { error: { code: 1 } }, true],
    ["no error", { content }, false],
    ["said not to be one", { isError: false, content }, false],
    ["said not to be one, as text", { isError: "false", content }, false],
    ["said not to be one in the older form", { error: { isError: "false" }, content }, false],
    ["an empty error", { error: null, content }, false],
  ])("%s", async (_, response, isError) => {
    const mcpTool = answering({ functionResponse: { name: "t", response } });
    const { error, returnDisplay } = await sampleTool("s", "t", { mcpTool }).execute({});
    expect(error?.code).toBe(isError ? "tool_error" : undefined);
    if (isError) expect(error?.message).toBe(`s.t reported an error: ${returnDisplay}`);
  });
});

test("a host decides about its tools and runs them, whatever their trust", async () => {
  const seen: unknown[] = [];
  const execution = { llmContent: [{ text: "x" }], returnDisplay: "x" };
  const binding: ToolBinding = {
    async confirm(tool, params, signal) {
      seen.push(["confirm", tool, params, signal]);
      throw new HostError("denied", "a rule says no");
    },
    async call(tool, params, signal) {
      seen.push(["call", tool, params, signal]);
      return execution;
    },
  };
  const mcpTool = callable();
  const tool = sampleTool("s", "t", { binding, trust: true, mcpTool }).named("x");
  const { signal } = new AbortController();
  await expect(tool.shouldConfirmExecute({ a: 1 }, signal)).rejects.toMatchObject({ code: "denied" });
  expect(await tool.execute({ a: 1 }, signal)).toBe(execution);
  expect(seen).toEqual([
    ["confirm", tool, { a: 1 }, signal],
    ["call", tool, { a: 1 }, signal],
  ]);
  expect(mcpTool.calls).toEqual([]);
});
