import { EventEmitter, getEventListeners, once } from "node:events";
import { expect, test } from "vitest";
import {
  type CallableTool,
  DiscoveredMCPTool,
  type DiscoveredMCPToolOptions,
  SecureMCPToolExecutor,
  type ToolResult,
} from "../../src/gemini/index.ts";
import { manualClock } from "../support/manual-clock.ts";

interface Held {
  readonly tool: DiscoveredMCPTool;
  /** Resolves when so many calls have begun. */
  readonly begun: (count: number) => Promise<void>;
  /** Ends the oldest call that runs. */
  readonly answer: () => void;
  readonly running: () => number;
}

function heldTool(options: Partial<DiscoveredMCPToolOptions> = {}): Held {
  const waiting: (() => void)[] = [];
  const starts = new EventEmitter();
  let count = 0;
  const mcpTool: CallableTool = {
    tool: async () => ({ functionDeclarations: [] }),
    callTool: () =>
      new Promise((resolve) => {
        waiting.push(() => resolve([{ text: "done" }]));
        count += 1;
        starts.emit("start");
      }),
  };
  const tool = new DiscoveredMCPTool({
    mcpTool,
    serverName: "s",
    serverToolName: "t",
    description: "",
    parameterSchemaJson: { type: "object", properties: { n: { type: "number" } } },
    ...options,
  });
  const begun = async (wanted: number): Promise<void> => {
    while (count < wanted) await once(starts, "start");
  };
  return { tool, begun, answer: () => waiting.shift()?.(), running: () => waiting.length };
}

test("over its limit it throws, until a call has ended", async () => {
  const { tool, begun, answer, running } = heldTool();
  await using executor = new SecureMCPToolExecutor({ maxConcurrentExecutions: 2 });
  const calls = [1, 2].map((n) => executor.executeWithSafeguards(tool, { n }));
  await begun(2);
  await expect(executor.executeWithSafeguards(tool, { n: 3 })).rejects.toMatchObject({
    code: "busy",
    message: "Too many concurrent tool executions",
    serverName: "s",
  });
  expect(running()).toBe(2);
  answer();
  await calls[0];
  const fourth = executor.executeWithSafeguards(tool, { n: 4 });
  await begun(3);
  answer();
  answer();
  expect(await Promise.all([calls[1], fourth])).toHaveLength(2);
});

test("its limit is five calls", async () => {
  const { tool, begun, answer } = heldTool();
  await using executor = new SecureMCPToolExecutor();
  const calls = Array.from({ length: 5 }, () => executor.executeWithSafeguards(tool, {}));
  await begun(5);
  await expect(executor.executeWithSafeguards(tool, {})).rejects.toThrow("Too many concurrent tool executions");
  for (const _ of calls) answer();
  await Promise.all(calls);
});

test.each([undefined, null, "x", [], 5])("%j is no object of parameters", async (params) => {
  await using executor = new SecureMCPToolExecutor();
  const given = params as unknown as Record<string, unknown>;
  await expect(executor.executeWithSafeguards(heldTool().tool, given)).rejects.toMatchObject({
    code: "usage",
    message: 'Invalid parameters: must be an object ("params" of executeWithSafeguards())',
  });
});

test("arguments with the names that a model got are checked by the server's own names", async () => {
  const callTool: CallableTool["callTool"] = async (calls) => {
    sent.push(...calls.map(({ args }) => args));
    return [{ text: "done" }];
  };
  const sent: unknown[] = [];
  const { tool } = heldTool({
    mcpTool: { tool: async () => ({ functionDeclarations: [] }), callTool },
    parameterSchemaJson: {
      type: "object",
      properties: { "user id": { type: "number" } },
      required: ["user id"],
      additionalProperties: false,
    },
  });
  const [shown = ""] = Object.keys(tool.schema.parametersJsonSchema["properties"] ?? {});
  expect(shown).not.toBe("user id");
  await using executor = new SecureMCPToolExecutor();
  await executor.executeWithSafeguards(tool, { [shown]: 7 });
  await executor.executeWithSafeguards(tool, { "user id": 8 });
  expect(sent).toEqual([{ "user id": 7 }, { "user id": 8 }]);
  await expect(executor.executeWithSafeguards(tool, { [shown]: "x" })).rejects.toMatchObject({
    code: "arguments_invalid",
    message: 's.t has invalid arguments: "user id" must be a number',
  });
});

test("arguments that do not fit the schema reach no server", async () => {
  const { tool, running } = heldTool();
  await using executor = new SecureMCPToolExecutor();
  await expect(executor.executeWithSafeguards(tool, { n: "one" })).rejects.toMatchObject({
    code: "arguments_invalid",
    message: 's.t has invalid arguments: "n" must be a number',
    serverName: "s",
  });
  expect(running()).toBe(0);
});

test("a tool without a timeout has the executor's", async () => {
  const clock = manualClock();
  const { tool, begun } = heldTool();
  await using executor = new SecureMCPToolExecutor({ executionTimeout: 100, clock });
  const outcome = expect(executor.executeWithSafeguards(tool, {})).rejects.toMatchObject({
    code: "call_timeout",
    message: "timeout: s.t gave no result within 100 ms; the request may or may not have run",
  });
  await begun(1);
  await clock.pass(99);
  expect(clock.pending()).toBe(1);
  await clock.pass(1);
  await outcome;
});

test("what runs is cancelled by its signal, and when the executor is disposed of", async () => {
  const executor = new SecureMCPToolExecutor();
  const { tool, begun } = heldTool();
  const running = expect(executor.executeWithSafeguards(tool, {})).rejects.toMatchObject({ code: "cancelled" });
  const stop = new AbortController();
  const other = expect(executor.executeWithSafeguards(tool, {}, stop.signal)).rejects.toMatchObject({
    code: "cancelled",
  });
  await begun(2);
  stop.abort();
  await other;
  await executor[Symbol.asyncDispose]();
  await running;
  await expect(executor.executeWithSafeguards(tool, {})).rejects.toMatchObject({ code: "cancelled" });
});

test("a tool that does not heed its signal delays no caller, and its signal is let go", async () => {
  await using executor = new SecureMCPToolExecutor();
  const stop = new AbortController();
  const deaf = {
    serverName: "s",
    serverToolName: "t",
    parameterSchemaJson: {},
    execute: () => new Promise<never>(() => stop.abort()),
  };
  await expect(executor.executeWithSafeguards(deaf, {}, stop.signal)).rejects.toMatchObject({ code: "cancelled" });
  const { signal } = new AbortController();
  const { tool, begun, answer } = heldTool();
  const call = executor.executeWithSafeguards(tool, {}, signal);
  await begun(1);
  answer();
  await call;
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

/** A tool that does what the test says. */
function toolOf(execute: (params: unknown, signal?: AbortSignal) => Promise<ToolResult>, more: object = {}) {
  return { serverName: "s", serverToolName: "t", parameterSchemaJson: {}, execute, ...more };
}
const result: ToolResult = { llmContent: [{ text: "done" }], returnDisplay: "done" };

test.each(["{}", "null", '"text"', "7", '{ "llmContent": "text" }', '{ "returnDisplay": "done" }'])(
  "a tool that gives no content has given no result: %s",
  async (text) => {
    await using executor = new SecureMCPToolExecutor();
    const tool = toolOf(() => Promise.resolve(JSON.parse(text)));
    await expect(executor.executeWithSafeguards(tool, {})).rejects.toMatchObject({
      code: "protocol",
      message: "Invalid tool result: missing llmContent",
      serverName: "s",
    });
  },
);

test("a tool's own error is told as it is, its result too, and no timer is left", async () => {
  const clock = manualClock();
  await using executor = new SecureMCPToolExecutor({ clock, maxConcurrentExecutions: 1 });
  const boom = new TypeError("boom");
  const failing = toolOf(() => Promise.reject(boom));
  await expect(executor.executeWithSafeguards(failing, {})).rejects.toBe(boom);
  expect(
    await executor.executeWithSafeguards(
      toolOf(async () => result),
      {},
    ),
  ).toBe(result);
  expect(clock.pending()).toBe(0);
});

test("a tool without a schema gets what it is given", async () => {
  await using executor = new SecureMCPToolExecutor();
  const given: unknown[] = [];
  const tool = toolOf(
    async (params) => {
      given.push(params);
      return result;
    },
    { parameterSchemaJson: undefined },
  );
  await executor.executeWithSafeguards(tool, { a: [1] });
  expect(given).toEqual([{ a: [1] }]);
});

test("a tool has its own timeout, and its signal is aborted then", async () => {
  const clock = manualClock();
  await using executor = new SecureMCPToolExecutor({ clock, executionTimeout: 100 });
  const signals: (AbortSignal | undefined)[] = [];
  const tool = toolOf(
    (_, signal) => {
      signals.push(signal);
      return new Promise(() => {});
    },
    { timeout: 200 },
  );
  const call = executor.executeWithSafeguards(tool, {}).catch((error: unknown) => error);
  await clock.pass(199);
  expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
  await clock.pass(1);
  expect(await call).toMatchObject({
    code: "call_timeout",
    message: "timeout: s.t gave no result within 200 ms; the request may or may not have run",
    serverName: "s",
    next: "Give the tool a longer timeout.",
  });
  expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
});

test("a caller's signal reaches the tool, and the caller is told that the call was cancelled, and why", async () => {
  await using executor = new SecureMCPToolExecutor();
  const stop = new AbortController();
  const heard: unknown[] = [];
  const stopped = new Error("stopped");
  const tool = toolOf((_, signal) => {
    signal?.addEventListener("abort", () => heard.push(signal.reason), { once: true });
    stop.abort("enough");
    return Promise.reject(stopped);
  });
  const cancelled = { code: "cancelled", message: "s.t was cancelled", serverName: "s" };
  const call = () => executor.executeWithSafeguards(tool, {}, stop.signal);
  await expect(call()).rejects.toMatchObject({ ...cancelled, cause: stopped });
  await expect(call()).rejects.toMatchObject({ ...cancelled, cause: "enough" });
  expect(heard).toEqual(["enough"]);
});

test("arguments that are wrong are told also of a call that is cancelled", async () => {
  await using executor = new SecureMCPToolExecutor();
  const wrong = 7 as unknown as Record<string, unknown>;
  await expect(executor.executeWithSafeguards(heldTool().tool, wrong, AbortSignal.abort())).rejects.toMatchObject({
    code: "usage",
  });
});
