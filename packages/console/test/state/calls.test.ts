import { join } from "node:path";
import { deferred, stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { allowAll, consoleScene, ofType } from "./scene.ts";

test("a call of the console runs through the host, and its row ends with a result", async () => {
  await using scene = await consoleScene({ servers: { good: stdioServer("well-behaved") } });
  await scene.run("calls/tool", { call: "c-1", server: "demo", tool: "greet", args: { name: "Ada" } });
  const ended = await scene.event(ofType("call", ({ call }) => call.id === "c-1" && call.endedAt !== undefined));
  expect(ended.call).toMatchObject({ server: "demo", kind: "tool", name: "greet", from: "console", state: "ok" });
  const { result, display, warnings } = await scene.run("calls/result", { call: "c-1" });
  expect(result).toMatchObject({ content: [{ type: "text" }] });
  expect(display).toContain("Ada");
  expect(warnings).toEqual([]);
  const { entries } = await scene.run("history/list", {});
  expect(entries).toMatchObject([{ server: "demo", tool: "greet", outcome: "ok", decision: "allow" }]);
  expect((await scene.state.snapshot()).calls.map(({ id }) => id)).toEqual(["c-1"]);
});

test("calls of clients are rows with the client's name", async () => {
  await using scene = await consoleScene({ servers: { good: stdioServer("well-behaved") }, rules: allowAll });
  const client = await scene.client();
  const { tools } = (await client.request("tools/list", {})) as { tools: { name: string }[] };
  const name = tools.map((tool) => tool.name).find((each) => each.includes("echo")) ?? "";
  await client.request("tools/call", { name, arguments: { text: "hello" } });
  const row = await scene.event(ofType("call", ({ call }) => call.endedAt !== undefined));
  expect(row.call).toMatchObject({ from: "tester", server: "good", state: "ok" });
});

test("a client's call that a rule asks about is a question, and the console's answer counts once", async () => {
  await using scene = await consoleScene({ servers: { good: stdioServer("well-behaved") } });
  const client = await scene.client();
  const { tools } = (await client.request("tools/list", {})) as { tools: { name: string }[] };
  const name = tools.map((tool) => tool.name).find((each) => each.includes("echo")) ?? "";
  const calling = client.request("tools/call", { name, arguments: { text: "hello" } });
  const { question } = await scene.event(ofType("question"));
  expect(question).toMatchObject({
    kind: "request",
    server: "good",
    from: "the program tester",
    request: "tool",
    args: { text: "hello" },
    isAwaited: true,
  });
  const answer = { kind: "request", choice: "once" } as const;
  const first = await scene.run("questions/answer", { id: question.id, answer });
  expect(first).toEqual({ isFirst: true, text: "Your answer: yes, once." });
  expect(await calling).toMatchObject({ content: [{ type: "text" }] });
  const second = await scene.run("questions/answer", { id: question.id, answer });
  expect(second).toEqual({
    isFirst: false,
    text: "This question already has an answer, from the console: yes, once.",
  });
  const answered = await scene.event(ofType("answered"));
  expect(answered).toEqual({ type: "answered", id: question.id, by: "the console", answer: "yes, once" });
  expect((await scene.run("history/list", {})).entries).toMatchObject([{ client: "tester", answeredIn: "inbox" }]);
});

test("a question about the console's own call waits for its answer, and is withdrawn with the call", async () => {
  await using scene = await consoleScene({
    servers: {},
    rules: '[[rule]]\ntoolName = "greet"\nmcpName = "demo"\ndecision = "ask_user"\npriority = 500\n',
  });
  await scene.run("calls/tool", { call: "one", server: "demo", tool: "greet", args: { name: "Ada" } });
  const { question } = await scene.event(ofType("question"));
  expect(question).toMatchObject({ kind: "request", from: "this console", name: "greet", args: { name: "Ada" } });
  await scene.event(ofType("call", ({ call }) => call.id === "one" && call.state === "asking"));
  await scene.run("questions/answer", { id: question.id, answer: { kind: "request", choice: "once" } });
  await scene.event(ofType("call", ({ call }) => call.id === "one" && call.state === "ok"));
  await scene.run("calls/tool", { call: "two", server: "demo", tool: "greet", args: {} });
  const next = await scene.event(ofType("question", ({ question: { id } }) => id !== question.id));
  await scene.run("calls/cancel", { call: "two" });
  await scene.event(ofType("call", ({ call }) => call.id === "two" && call.state === "cancelled"));
  expect(await scene.event(ofType("answered", ({ id }) => id === next.question.id))).toEqual({
    type: "answered",
    id: next.question.id,
  });
  const late = scene.run("questions/answer", { id: next.question.id, answer: { kind: "request", choice: "once" } });
  await expect(late).rejects.toMatchObject({ code: "not_found" });
});

test("the console stops a client's call, and the client gets an error", async () => {
  await using folder = await temporaryFolder();
  const slow = stdioServer("workshop", join(folder.path, "diary"), "legacy", "stdio");
  await using scene = await consoleScene({ servers: { slow }, rules: allowAll });
  const client = await scene.client();
  const { tools } = (await client.request("tools/list", {})) as { tools: { name: string }[] };
  const name = tools.map((tool) => tool.name).find((each) => each.includes("hang")) ?? "";
  const calling = client.request("tools/call", { name, arguments: {} });
  const { call } = await scene.event(ofType("call", ({ call: row }) => row.from === "tester"));
  await scene.event(
    ofType("frames", ({ frames }) => frames.some(({ method, call: of }) => method === "tools/call" && of === call.id)),
  );
  await scene.run("calls/cancel", { call: call.id });
  const ended = await scene.event(ofType("call", ({ call: row }) => row.id === call.id && row.endedAt !== undefined));
  expect(ended.call.state).toBe("cancelled");
  expect(JSON.stringify(await calling.catch((error: unknown) => String(error)))).toMatch(/cancel/i);
});

test("an id of a call that is in use, and a call that never began, are refused", async () => {
  await using scene = await consoleScene({ servers: {} });
  await scene.run("calls/tool", { call: "one", server: "demo", tool: "greet", args: {} });
  const again = scene.run("calls/tool", { call: "one", server: "demo", tool: "greet", args: {} });
  await expect(again).rejects.toMatchObject({ code: "usage" });
  await expect(scene.run("calls/result", { call: "two" })).rejects.toMatchObject({ code: "not_found" });
  await scene.event(ofType("call", ({ call }) => call.endedAt !== undefined));
});

test("the bytes of an image are read on demand, and are no part of the result", async () => {
  await using scene = await consoleScene({ servers: {} });
  await scene.run("calls/tool", { call: "one", server: "demo", tool: "picture", args: {} });
  await scene.event(ofType("call", ({ call }) => call.state === "ok"));
  const { result } = await scene.run("calls/result", { call: "one" });
  const content = (result as { content: { type: string; bytes?: number }[] }).content;
  const at = content.findIndex(({ type }) => type === "image");
  expect(content[at]).toMatchObject({ type: "image", mimeType: "image/png", bytes: expect.any(Number) });
  expect(content[at]).not.toHaveProperty("data");
  const blob = await scene.run("calls/blob", { call: "one", path: `/content/${at}` });
  expect(blob.type).toBe("image/png");
  expect(Buffer.from(blob.base64, "base64").length).toBe(content[at]?.bytes);
  await expect(scene.run("calls/blob", { call: "one", path: "/content/99" })).rejects.toMatchObject({
    code: "not_found",
  });
});

test("a request that began before the console was opened has a row, with its state, and ends like any other", async () => {
  await using folder = await temporaryFolder();
  await using scene = await consoleScene({
    servers: { shop: stdioServer("workshop", join(folder.path, "diary"), "legacy", "stdio") },
  });
  // Nothing watches the host any more.
  await scene.state[Symbol.asyncDispose]();
  await scene.host.start({ servers: ["shop"] });
  const began = Date.now();
  const { signal } = new AbortController();
  const hanging = scene.host.call("shop", "hang", {}, { signal });
  const isAsked = deferred<void>();
  const asking = scene.host.callAsModel(
    "echo",
    { text: "hello" },
    {
      signal,
      confirm: () => {
        isAsked.resolve();
        return new Promise(() => {});
      },
    },
  );
  const ends = Promise.allSettled([hanging, asking]);
  await Promise.race([isAsked.promise, asking]);
  const { ConsoleState } = await import("../../src/server/state/console-state.ts");
  await using late = new ConsoleState({ host: scene.host, version: "1.2.3", inbox: scene.inbox });
  const { calls } = await late.snapshot();
  expect(calls.map(({ name, state, endedAt }) => [name, state, endedAt])).toEqual([
    ["echo", "asking", undefined],
    ["hang", "running", undefined],
  ]);
  for (const { startedAt } of calls) expect(startedAt).toBeGreaterThanOrEqual(began - 1);
  for (const { id } of calls) await late.run("calls/cancel", { call: id }, { signal });
  await ends;
  expect((await late.snapshot()).calls.map(({ state }) => state)).toEqual(["cancelled", "cancelled"]);
});
