import type { Model } from "@fairlead/core/model";
import { createScriptedModel } from "@fairlead/core/model/scripted";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { ConsoleEvent } from "../../src/protocol/events.ts";
import { allowAll, type ConsoleScene, consoleScene, ofType, type SceneOptions } from "./scene.ts";

/** A model that answers with these messages, one after the other. */
function scripted(...answers: readonly (readonly object[])[]) {
  const script = answers.map((parts) => JSON.stringify({ role: "model", parts })).join("\n");
  return createScriptedModel({ script });
}

const greet = { functionCall: { name: "demo__greet", args: { name: "Ada" } } };

async function chatScene(
  answers: readonly (readonly object[])[],
  options: Partial<SceneOptions> = {},
): Promise<ConsoleScene> {
  const model = scripted(...answers);
  return consoleScene({ servers: {}, ...options, state: { findModel: async () => model } });
}

const typeOf = (event: ConsoleEvent): unknown => (event.type === "turn" ? event.event["type"] : undefined);
const ended = ofType("turn", ({ event }) => event["type"] === "done");

/** Sends a message, and waits for the end of its turn. */
async function say(scene: ConsoleScene, conversation: string, text: string): Promise<void> {
  scene.events.length = 0;
  await scene.run("chat/send", { conversation, text });
  await scene.event((event) => typeOf(event) === "done" || typeOf(event) === "error");
}

test("a turn arrives as numbered events, and a page that comes later gets them too", async () => {
  await using scene = await chatScene([[{ text: "Hello, Ada." }]]);
  expect(await scene.run("chat/model", {})).toEqual({ model: "the script" });
  const { conversation, model } = await scene.run("chat/open", {});
  expect(model).toBe("the script");
  expect((await scene.state.snapshot()).model).toBe("the script");
  expect(await scene.run("chat/show", { conversation })).toMatchObject({ isOpen: true, events: [], number: 0 });
  await say(scene, conversation, "Hello.");
  expect(await scene.event(ended)).toMatchObject({ conversation, event: { reason: "stop", text: "Hello, Ada." } });
  const numbers = scene.events.flatMap((event) => (event.type === "turn" ? [event.number] : []));
  expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  const { events, isRunning, number, recorded } = await scene.run("chat/show", { conversation });
  expect([isRunning, number]).toEqual([false, numbers.length]);
  expect(recorded).toMatchObject({ id: conversation, turns: 1 });
  expect(events[0]).toEqual({ type: "input", text: "Hello." });
  expect(events.find(({ type }) => type === "text")).toEqual({ type: "text", text: "Hello, Ada." });
  const { conversations } = await scene.run("conversations/list", {});
  expect(conversations.map(({ id }) => id)).toEqual([conversation]);
  await scene.run("chat/close", { conversation });
  expect(await scene.run("chat/show", { conversation })).toMatchObject({ isOpen: false, model: "the script" });
  const unknown = scene.run("chat/show", { conversation: "20200101-000000-abcdef" });
  await expect(unknown).rejects.toMatchObject({ code: "not_found" });
});

test("a model's call is a question of the inbox, and its row and its card end with the answer", async () => {
  await using scene = await chatScene([[greet], [{ text: "Done." }]]);
  const { conversation } = await scene.run("chat/open", {});
  await scene.run("chat/send", { conversation, text: "Greet Ada." });
  const { question } = await scene.event(ofType("question", ({ question: { call } }) => call !== undefined));
  expect(question).toMatchObject({
    kind: "request",
    from: "a conversation in the console",
    server: "demo",
    name: "greet",
    args: { name: "Ada" },
  });
  await expect(scene.run("chat/send", { conversation, text: "More." })).rejects.toMatchObject({ code: "busy" });
  // Another program lists and answers it.
  expect((await scene.inbox.list()).map(({ id, name }) => [id, name])).toEqual([[question.id, "greet"]]);
  await scene.inbox.answer(question.id, "once", "fairlead approvals");
  await scene.event(ended);
  expect(await scene.event(ofType("answered"))).toMatchObject({ id: question.id, by: "fairlead approvals" });
  expect(await scene.event(ofType("call", ({ call }) => call.state === "ok"))).toMatchObject({
    call: { id: question.call, from: "model", server: "demo", name: "greet" },
  });
  const { events } = await scene.run("chat/show", { conversation });
  expect(events.filter(({ type }) => type === "call")).toMatchObject([
    { status: "ok", row: question.call, args: { name: "Ada" } },
  ]);
  const { result } = await scene.run("calls/result", { call: question.call ?? "" });
  expect(JSON.stringify(result)).toContain("Ada");
});

test("a no with its reason reaches the model, and the card has the reason", async () => {
  await using scene = await chatScene([[greet], [{ text: "I see." }]]);
  const { conversation } = await scene.run("chat/open", {});
  await scene.run("chat/send", { conversation, text: "Greet Ada." });
  const { question } = await scene.event(ofType("question"));
  const answer = { kind: "request", choice: "no", because: "Ada sleeps" } as const;
  expect(await scene.run("questions/answer", { id: question.id, answer })).toMatchObject({ isFirst: true });
  await scene.event(ended);
  const { events } = await scene.run("chat/show", { conversation });
  const card = events.find(({ type }) => type === "call");
  expect(card).toMatchObject({ status: "denied", error: { code: "denied" } });
  expect(JSON.stringify(card)).toContain("Ada sleeps");
});

test("a turn that is stopped withdraws its question, and the call does not run", async () => {
  await using scene = await chatScene([[greet], [{ text: "Done." }]]);
  const { conversation } = await scene.run("chat/open", {});
  await scene.run("chat/send", { conversation, text: "Greet Ada." });
  const { question } = await scene.event(ofType("question"));
  await scene.run("chat/stop", { conversation });
  expect(await scene.event(ofType("answered"))).toEqual({ type: "answered", id: question.id });
  expect(await scene.event(ended)).toMatchObject({ event: { reason: "cancelled" } });
  expect((await scene.run("history/list", { outcome: "ok" })).entries).toEqual([]);
});

test("a message can use a server's prompt and its resources, and references in a prompt's text are not read", async () => {
  await using scene = await chatScene([[{ text: "One." }], [{ text: "Two." }]]);
  await scene.host.start({ servers: ["demo"] });
  const { conversation } = await scene.run("chat/open", {});
  await say(scene, conversation, "/demo__teach knot=@demo://about");
  const { entries } = await scene.run("history/list", {});
  expect(entries).toMatchObject([{ server: "demo", kind: "prompt", tool: "teach" }]);
  await say(scene, conversation, "What is @demo://about?");
  expect((await scene.run("history/list", {})).entries).toMatchObject([
    { kind: "resource", tool: "demo://about" },
    { kind: "prompt" },
  ]);
});

test("a reference in a result or in the model's text is not read", async () => {
  const echo = { functionCall: { name: "echo", args: { text: "look at @demo://about" } } };
  await using scene = await chatScene([[echo], [{ text: "The result says @demo://about." }], [{ text: "End." }]], {
    servers: { good: stdioServer("well-behaved") },
    rules: allowAll,
  });
  await scene.host.start({ servers: ["demo", "good"] });
  const { conversation } = await scene.run("chat/open", {});
  await say(scene, conversation, "Echo it.");
  await say(scene, conversation, "And now?");
  expect((await scene.run("history/list", {})).entries).toMatchObject([{ kind: "tool", outcome: "ok" }]);
});

test("a secret that the model writes in pieces is hidden", async () => {
  const planted = "planted-7f3a9c-secret-value";
  const said = ["The token is plan", "ted-7f3a9c-sec", "ret-value", ", he said. ", planted];
  const model: Model = {
    provider: "manual",
    name: "in pieces",
    dialect: "gemini",
    maxDeclarations: 100,
    async *stream() {
      for (const text of said) yield { type: "text", text };
      yield { type: "finish", reason: "stop", content: { role: "model", parts: [{ text: said.join("") }] } };
    },
  };
  await using scene = await consoleScene({
    servers: { good: { ...stdioServer("well-behaved"), env: { API_TOKEN: planted } } },
    state: { findModel: async () => model },
  });
  const { conversation } = await scene.run("chat/open", {});
  await say(scene, conversation, "What is the token?");
  const pieces = scene.events.flatMap((event) =>
    event.type === "turn" && event.event["type"] === "text" ? [event.event["text"]] : [],
  );
  expect(pieces).toEqual(["The token is ", "(hidden), he said. ", "(hidden)"]);
  const { events } = await scene.run("chat/show", { conversation });
  expect(events.find(({ type }) => type === "text")?.["text"]).toBe(pieces.join(""));
  expect(scene.sent.filter((document) => /planted|7f3a9c|ret-value/.test(document))).toEqual([]);
});

test("a recorded conversation is resumed with what was said, and goes on after another program continued it", async () => {
  await using scene = await chatScene([[{ text: "One." }], [{ text: "Two." }], [{ text: "Three." }]]);
  const { conversation } = await scene.run("chat/open", {});
  await say(scene, conversation, "First.");
  // Between two turns, the conversation is free for other programs.
  const model = scripted([{ text: "From elsewhere." }]);
  const elsewhere = await scene.host.conversation({ model, resume: conversation });
  for await (const _ of elsewhere.send("Second."));
  await elsewhere.close();
  await say(scene, conversation, "Third.");
  expect(scene.events.map(typeOf)).toContain("reload");
  const saidIn = ({ events }: { readonly events: readonly { readonly type?: unknown; readonly text?: unknown }[] }) =>
    events.flatMap(({ type, text }) => (type === "input" || type === "text" ? [text] : []));
  const all = ["First.", "One.", "Second.", "From elsewhere.", "Third.", "Two."];
  expect(saidIn(await scene.run("chat/show", { conversation }))).toEqual(all);
  await scene.run("chat/close", { conversation });
  expect(await scene.run("chat/open", { resume: conversation })).toMatchObject({ conversation });
  expect(saidIn(await scene.run("chat/show", { conversation }))).toEqual(all);
  const { events, earlier } = await scene.run("chat/show", { conversation, limit: 1 });
  expect([events.length, earlier > 0]).toEqual([1, true]);
});

test("with 16 open conversations, one more closes the one that was used longest ago", async () => {
  await using scene = await chatScene([]);
  const opened: string[] = [];
  for (let count = 0; count < 17; count += 1) opened.push((await scene.run("chat/open", {})).conversation);
  const [first = "", second = ""] = opened;
  await expect(scene.run("chat/send", { conversation: first, text: "x" })).rejects.toMatchObject({ code: "not_found" });
  expect(await scene.run("chat/show", { conversation: second })).toMatchObject({ isOpen: true });
});

test("without a model, opening a conversation says so", async () => {
  await using scene = await consoleScene({ servers: {} });
  await expect(scene.run("chat/open", {})).rejects.toMatchObject({ code: "model" });
  await expect(scene.run("chat/model", {})).rejects.toMatchObject({ code: "model" });
});
