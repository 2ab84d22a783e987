import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { allowAll, consoleScene, ofType } from "./scene.ts";

test("a server asks during the console's call: a wrong answer is refused, and the form stays open", async () => {
  await using scene = await consoleScene({ servers: { shop: stdioServer("asks") } });
  await scene.run("calls/tool", { call: "c", server: "shop", tool: "order", args: { how: "form" } });
  const { question } = await scene.event(ofType("question"));
  expect(question).toMatchObject({
    kind: "form",
    server: "shop",
    from: "shop.order (from console)",
    message: "Which one?",
    call: "c",
    schema: { required: ["size"] },
  });
  const answer = (content: object) =>
    scene.run("questions/answer", {
      id: question.id,
      answer: { kind: "form", action: "accept", content: { ...content } },
    });
  await expect(answer({ size: "enormous" })).rejects.toMatchObject({
    code: "usage",
    message: expect.stringContaining("answer.content/size"),
  });
  await expect(
    scene.run("questions/answer", { id: question.id, answer: { kind: "request", choice: "once" } }),
  ).rejects.toMatchObject({ code: "usage" });
  expect((await scene.state.snapshot()).questions).toHaveLength(1);
  expect(await answer({ size: "small" })).toEqual({ isFirst: true, text: "Your answer: answered." });
  expect(await answer({ size: "small" })).toMatchObject({ isFirst: false });
  await scene.event(ofType("call", ({ call }) => call.state === "ok"));
  const { display } = await scene.run("calls/result", { call: "c" });
  expect(JSON.parse(display ?? "")).toEqual({ action: "accept", content: { size: "small", number: 1 } });
});

test("a server's address is a question that is answered without opening anything", async () => {
  await using scene = await consoleScene({ servers: { shop: stdioServer("asks") } });
  await scene.run("calls/tool", { call: "c", server: "shop", tool: "order", args: { how: "url" } });
  const { question } = await scene.event(ofType("question"));
  expect(question).toMatchObject({ kind: "address", url: "https://example.com/pay", message: "Pay here." });
  await scene.run("questions/answer", { id: question.id, answer: { kind: "address", action: "decline" } });
  await scene.event(ofType("call", ({ call }) => call.state === "ok"));
  expect((await scene.run("calls/result", { call: "c" })).display).toBe('{"action":"decline"}');
});

test("the console answers for a client that cannot be asked, and only while it is open", async () => {
  await using scene = await consoleScene({ servers: { shop: stdioServer("asks") }, rules: allowAll });
  const client = await scene.client();
  const { tools } = (await client.request("tools/list", {})) as { tools: { name: string }[] };
  const order = (): Promise<object> =>
    client.request("tools/call", { name: tools[0]?.name ?? "", arguments: { how: "form" } });
  const ordered = order();
  const { question } = await scene.event(ofType("question"));
  await scene.run("questions/answer", {
    id: question.id,
    answer: { kind: "form", action: "accept", content: { size: "large" } },
  });
  expect(JSON.stringify(await ordered)).toContain("large");
  await scene.state[Symbol.asyncDispose]();
  expect(JSON.stringify(await order())).toContain("does not declare elicitation");
});

test("a client that can be asked is asked itself", async () => {
  await using scene = await consoleScene({ servers: { shop: stdioServer("asks") }, rules: allowAll });
  const client = await scene.client({
    capabilities: { elicitation: { form: {} } },
    answer: async () => ({ action: "accept", content: { size: "medium" } }),
  });
  const { tools } = (await client.request("tools/list", {})) as { tools: { name: string }[] };
  const result = await client.request("tools/call", { name: tools[0]?.name ?? "", arguments: { how: "form" } });
  expect(JSON.stringify(result)).toContain("medium");
  expect(scene.events.some(({ type }) => type === "question")).toBe(false);
});

test("a question that another program answers is answered there, and the console says who", async () => {
  await using scene = await consoleScene({ servers: { good: stdioServer("well-behaved") } });
  const client = await scene.client();
  const { tools } = (await client.request("tools/list", {})) as { tools: { name: string }[] };
  const name = tools.map((tool) => tool.name).find((each) => each.includes("echo")) ?? "";
  const calling = client.request("tools/call", { name, arguments: { text: "hello" } });
  const { question } = await scene.event(ofType("question"));
  await scene.inbox.answer(question.id, "no", "fairlead approvals", undefined, "not today");
  expect(await scene.event(ofType("answered"))).toEqual({
    type: "answered",
    id: question.id,
    by: "fairlead approvals",
    answer: "no",
  });
  expect(JSON.stringify(await calling)).toContain("not today");
  const late = await scene.run("questions/answer", { id: question.id, answer: { kind: "request", choice: "once" } });
  expect(late).toEqual({
    isFirst: false,
    text: "This question already has an answer, from fairlead approvals: no.",
  });
});

test("a question of a client that has left is withdrawn, and nobody's silence is a yes", async () => {
  await using scene = await consoleScene({ servers: { good: stdioServer("well-behaved") } });
  const client = await scene.client();
  const { tools } = (await client.request("tools/list", {})) as { tools: { name: string }[] };
  const name = tools.map((tool) => tool.name).find((each) => each.includes("echo")) ?? "";
  const stop = new AbortController();
  const calling = client.request("tools/call", { name, arguments: { text: "hello" } }, { signal: stop.signal });
  const { question } = await scene.event(ofType("question"));
  stop.abort();
  await expect(calling).rejects.toThrow();
  expect(await scene.event(ofType("answered"))).toEqual({ type: "answered", id: question.id });
  await scene.event(ofType("call", ({ call }) => call.state === "cancelled"));
  await expect(
    scene.run("questions/answer", { id: question.id, answer: { kind: "request", choice: "once" } }),
  ).rejects.toMatchObject({ code: "not_found" });
});

test("answers are checked before anything happens", async () => {
  await using scene = await consoleScene({ servers: {} });
  const { signal } = new AbortController();
  const options = { signal };
  for (const [params, named] of [
    [{ id: "x" }, "answer"],
    [{ id: "x", answer: { kind: "wrong" } }, "answer.kind"],
    [{ id: "x", answer: { kind: "request", choice: "maybe" } }, "answer.choice"],
    [{ id: 7, answer: { kind: "request", choice: "no" } }, "id"],
    [{ id: "x", answer: { kind: "form", action: "accept", content: [] } }, "answer.content"],
  ] as const)
    await expect(
      scene.state.run("questions/answer", params as never, options),
      JSON.stringify(params),
    ).rejects.toMatchObject({ code: "usage", message: expect.stringContaining(named) });
  await expect(scene.state.run("nothing" as never, {} as never, options)).rejects.toMatchObject({ code: "usage" });
  await expect(scene.state.run("tools/list", { other: 1 } as never, options)).rejects.toMatchObject({
    code: "usage",
    message: 'tools/list has no parameter "other"',
  });
});
