import { EventEmitter, getEventListeners, once } from "node:events";
import { expect, test } from "vitest";
import {
  type CallableTool,
  DiscoveredMCPTool,
  type DiscoveredMCPToolOptions,
  SecureMCPToolExecutor,
} from "../../src/index.ts";
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

test("over the cap calls wait for their turn, and past the queue they are refused", async () => {
  const { tool, begun, answer, running } = heldTool();
  await using executor = new SecureMCPToolExecutor({ maxConcurrentExecutions: 1, maxWaitingPerServer: 1 });
  const first = executor.executeWithSafeguards(tool, { n: 1 });
  await begun(1);
  const second = executor.executeWithSafeguards(tool, { n: 2 });
  await expect(executor.executeWithSafeguards(tool, { n: 3 })).rejects.toMatchObject({
    code: "busy",
    message: "Too many concurrent tool executions",
  });
  expect(running()).toBe(1);
  answer();
  expect(await first).toMatchObject({ returnDisplay: "done" });
  await begun(2);
  answer();
  expect(await second).toMatchObject({ returnDisplay: "done" });
});

test.each([undefined, null, "x", [], 5])("%j is no object of parameters", async (params) => {
  await using executor = new SecureMCPToolExecutor();
  await expect(executor.executeWithSafeguards(heldTool().tool, params)).rejects.toMatchObject({
    code: "arguments_invalid",
    message: "Invalid parameters: must be an object",
  });
});

test("arguments that do not fit the schema reach nobody", async () => {
  const { tool, running } = heldTool();
  await using executor = new SecureMCPToolExecutor();
  await expect(executor.executeWithSafeguards(tool, { n: "one" })).rejects.toMatchObject({ code: "arguments_invalid" });
  expect(running()).toBe(0);
});

test("a tool without a timeout has the executor's, and waiting does not use it up", async () => {
  const clock = manualClock();
  const { tool, begun, answer } = heldTool();
  await using executor = new SecureMCPToolExecutor({ maxConcurrentExecutions: 1, executionTimeout: 100, clock });
  const first = executor.executeWithSafeguards(tool, {});
  const second = executor.executeWithSafeguards(tool, {});
  const outcome = expect(second).rejects.toMatchObject({
    code: "call_timeout",
    message: "s.t timed out: no result within 100 ms; the request may or may not have run",
  });
  await begun(1);
  await clock.pass(99);
  answer();
  await first;
  await begun(2);
  await clock.pass(99);
  expect(clock.pending()).toBe(1);
  await clock.pass(1);
  await outcome;
});

test("what waits or runs is cancelled by its signal, and when the executor is disposed of", async () => {
  const executor = new SecureMCPToolExecutor({ maxConcurrentExecutions: 1 });
  const { tool, begun } = heldTool();
  const running = expect(executor.executeWithSafeguards(tool, {})).rejects.toMatchObject({ code: "cancelled" });
  const stop = new AbortController();
  const waiting = expect(executor.executeWithSafeguards(tool, {}, stop.signal)).rejects.toMatchObject({
    code: "cancelled",
  });
  await begun(1);
  stop.abort();
  await waiting;
  await executor[Symbol.asyncDispose]();
  await running;
  await expect(executor.executeWithSafeguards(tool, {})).rejects.toMatchObject({ code: "cancelled" });
});

test("a tool that does not heed its signal keeps nobody waiting, and its signal is let go", async () => {
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

test("a tool that gives no content has given no result", async () => {
  await using executor = new SecureMCPToolExecutor();
  const tool = {
    serverName: "s",
    serverToolName: "t",
    parameterSchemaJson: {},
    execute: () => Promise.resolve(JSON.parse("{}")),
  };
  await expect(executor.executeWithSafeguards(tool, {})).rejects.toMatchObject({
    message: "Invalid tool result: missing llmContent",
  });
});
