import type { Progress, Session } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { createDemoSession } from "../../src/demo/session.ts";
import { manualClock } from "../support/manual-clock.ts";

function call(session: Session, name: string, args: object = {}, options: Parameters<Session["request"]>[2] = {}) {
  return session.request("tools/call", { name, arguments: args }, options);
}

test("it introduces itself like a server of 2025-11-25", () => {
  const { era, protocolVersion, serverInfo, capabilities } = createDemoSession();
  expect({ era, protocolVersion, serverInfo, capabilities }).toEqual({
    era: "legacy",
    protocolVersion: "2025-11-25",
    serverInfo: { name: "fairlead-demo", version: "1.0.0", title: "Fairlead's demo server" },
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
  });
});

test("many requests at the same time make Node print no warning", async () => {
  const warnings: string[] = [];
  const onWarning = ({ message }: Error): void => void warnings.push(message);
  process.on("warning", onWarning);
  const session = createDemoSession();
  await Promise.all(Array.from({ length: 20 }, () => call(session, "greet", { name: "Ada" })));
  await session.close();
  // Node emits warnings with `process.nextTick`.
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});

describe("requests that are wrong are answered with the code of JSON-RPC or MCP", () => {
  test.each([
    ["logging/setLevel", { level: "info" }, -32601, "Method not found: logging/setLevel"],
    ["tools/call", { name: "gret" }, -32602, "Unknown tool: gret"],
    ["tools/call", {}, -32602, "Unknown tool: undefined"],
    ["tools/list", { cursor: "x" }, -32602, "Invalid cursor"],
    ["prompts/list", { cursor: "x" }, -32602, "Invalid cursor"],
    ["resources/list", { cursor: "x" }, -32602, "Invalid cursor"],
    ["resources/templates/list", { cursor: "x" }, -32602, "Invalid cursor"],
    ["prompts/get", { name: "sing" }, -32602, "Unknown prompt: sing"],
    ["prompts/get", { name: "teach" }, -32602, 'The argument "knot" is required, and all arguments must be strings'],
    ["resources/read", { uri: "demo://knots/__proto__" }, -32002, "Resource not found"],
    ["resources/read", {}, -32002, "Resource not found"],
    ["completion/complete", {}, -32602, "No prompt or template has this argument"],
  ])("%s %j", async (method, params, code, message) => {
    await expect(createDemoSession().request(method, params)).rejects.toMatchObject({
      name: "WireError",
      code: "rpc",
      message,
      evidence: { rpc: { code } },
    });
  });
});

test("ping is answered, and a notification is taken", async () => {
  const session = createDemoSession();
  expect(await session.request("ping")).toEqual({});
  await session.notify("notifications/initialized");
});

test("who changes what was answered changes nothing for the next", async () => {
  const session = createDemoSession();
  const first = await session.request("tools/list");
  (first["tools"] as unknown[]).length = 0;
  expect((await session.request("tools/list"))["tools"]).toHaveLength(6);
});

describe("a slow call", () => {
  test("is cancelled by its signal, at once", async () => {
    const stop = new AbortController();
    const waiting = call(createDemoSession({ clock: manualClock() }), "wait", {}, { signal: stop.signal });
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ name: "WireError", code: "cancelled" });
  });

  test("is not begun when its signal is aborted already", async () => {
    await expect(
      call(createDemoSession(), "greet", { name: "Ada" }, { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({
      code: "cancelled",
    });
  });

  test("runs into a timeout, which names the milliseconds", async () => {
    const clock = manualClock();
    const waiting = expect(
      call(createDemoSession({ clock }), "wait", { seconds: 2 }, { timeout: 1500 }),
    ).rejects.toMatchObject({
      code: "timeout",
      message: "no answer within 1500 ms",
    });
    await clock.pass(1500);
    await waiting;
  });

  test("answers when it is faster than the timeout", async () => {
    const clock = manualClock();
    const waiting = call(createDemoSession({ clock }), "wait", { seconds: 2 }, { timeout: 2500 });
    await clock.pass(2000);
    expect(await waiting).toEqual({ content: [{ type: "text", text: "Waited 2 s." }] });
  });

  test("ends with the conversation", async () => {
    const session = createDemoSession();
    const waiting = expect(call(session, "wait", { seconds: 3600 })).rejects.toMatchObject({ code: "closed" });
    await session.close();
    await waiting;
  });
});

describe("progress", () => {
  const steps = [1, 2, 3].map((n): Progress => ({ progress: n, total: 3, message: `counted to ${n}` }));

  test("is reported step by step, and restarts the timeout", async () => {
    const clock = manualClock();
    const seen: Progress[] = [];
    const onProgress = (step: Progress): unknown => seen.push(step);
    const counting = call(createDemoSession({ clock }), "count", { to: 3, pause: 1000 }, { timeout: 1001, onProgress });
    await clock.pass(3000);
    expect(await counting).toEqual({ content: [{ type: "text", text: "1 2 3" }] });
    expect(seen).toEqual(steps);
  });

  test("does not extend the absolute limit", async () => {
    const clock = manualClock();
    const seen: Progress[] = [];
    const onProgress = (step: Progress): unknown => seen.push(step);
    const options = { timeout: 1001, total: 2500, onProgress };
    const counting = expect(
      call(createDemoSession({ clock }), "count", { to: 3, pause: 1000 }, options),
    ).rejects.toMatchObject({
      code: "timeout",
      message: "no answer within 2500 ms",
    });
    await clock.pass(3000);
    await counting;
    expect(seen).toEqual(steps.slice(0, 2));
  });
});

test("after close, everything is refused and `closed` has settled", async () => {
  const session = createDemoSession();
  await session.close();
  await session.close();
  expect(await session.closed).toBeUndefined();
  await expect(session.request("ping")).rejects.toMatchObject({ name: "WireError", code: "closed" });
  await expect(session.notify("notifications/initialized")).rejects.toMatchObject({ code: "closed" });
});
