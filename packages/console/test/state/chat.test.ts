import { createScriptedModel } from "@fairlead/core/model/scripted";
import { expect, test } from "vitest";
import { type ConsoleScene, consoleScene, ofType } from "./scene.ts";

/** A model that answers with these messages, one after the other. */
function scripted(...answers: readonly (readonly object[])[]) {
  const script = answers.map((parts) => JSON.stringify({ role: "model", parts })).join("\n");
  return createScriptedModel({ script });
}

const greet = { functionCall: { name: "demo__greet", args: { name: "Ada" } } };

async function chatScene(...answers: readonly (readonly object[])[]): Promise<ConsoleScene> {
  const model = scripted(...answers);
  return consoleScene({ servers: {}, state: { findModel: async () => model } });
}

const ended = ofType("turn", ({ event }) => (event as { type: string }).type === "done");

test("a turn arrives as events, and a page that comes later gets them too", async () => {
  await using scene = await chatScene([{ text: "Hello, Ada." }]);
  const { conversation, model } = await scene.run("chat/open", {});
  expect(model).toBe("the script");
  expect((await scene.state.snapshot()).model).toBe("the script");
  await scene.run("chat/send", { conversation, text: "Hello." });
  expect(await scene.event(ended)).toMatchObject({ conversation, event: { reason: "stop", text: "Hello, Ada." } });
  const { events, isRunning } = await scene.run("chat/show", { conversation });
  expect(isRunning).toBe(false);
  expect(events[0]).toEqual({ type: "input", text: "Hello." });
  expect(events.find(({ type }) => type === "text")).toEqual({ type: "text", text: "Hello, Ada." });
  const { conversations } = await scene.run("conversations/list", {});
  expect(conversations.map(({ id }) => id)).toEqual([conversation]);
  await scene.run("chat/close", { conversation });
  await expect(scene.run("chat/show", { conversation })).rejects.toMatchObject({ code: "not_found" });
});

test("a model's call is a question, and its row and its card end with the answer", async () => {
  await using scene = await chatScene([greet], [{ text: "Done." }]);
  const { conversation } = await scene.run("chat/open", {});
  await scene.run("chat/send", { conversation, text: "Greet Ada." });
  const { question } = await scene.event(ofType("question"));
  expect(question).toMatchObject({
    kind: "request",
    from: "a conversation in this console",
    server: "demo",
    name: "greet",
    args: { name: "Ada" },
  });
  await expect(scene.run("chat/send", { conversation, text: "More." })).rejects.toMatchObject({ code: "busy" });
  await scene.run("questions/answer", { id: question.id, answer: { kind: "request", choice: "once" } });
  await scene.event(ended);
  expect(await scene.event(ofType("call", ({ call }) => call.state === "ok"))).toMatchObject({
    call: { from: "model", server: "demo", name: "greet" },
  });
  const { events } = await scene.run("chat/show", { conversation });
  expect(events.filter(({ type, status }) => type === "call" && status === "ok")).toHaveLength(1);
});

test("a turn that is stopped withdraws its question, and the call does not run", async () => {
  await using scene = await chatScene([greet], [{ text: "Done." }]);
  const { conversation } = await scene.run("chat/open", {});
  await scene.run("chat/send", { conversation, text: "Greet Ada." });
  const { question } = await scene.event(ofType("question"));
  await scene.run("chat/stop", { conversation });
  expect(await scene.event(ofType("answered"))).toEqual({ type: "answered", id: question.id });
  expect(await scene.event(ended)).toMatchObject({ event: { reason: "cancelled" } });
  expect((await scene.run("history/list", { outcome: "ok" })).entries).toEqual([]);
});

test("a message can use a server's prompt and its resources", async () => {
  await using scene = await chatScene([{ text: "One." }], [{ text: "Two." }]);
  await scene.host.start({ servers: ["demo"] });
  const { conversation } = await scene.run("chat/open", {});
  await scene.run("chat/send", { conversation, text: "/demo__teach knot=bowline" });
  await scene.event(ended);
  const { entries } = await scene.run("history/list", {});
  expect(entries).toMatchObject([{ server: "demo", kind: "prompt", tool: "teach" }]);
  scene.events.length = 0;
  await scene.run("chat/send", { conversation, text: "What is @demo://about?" });
  await scene.event(ended);
  expect((await scene.run("history/list", {})).entries).toMatchObject([
    { kind: "resource", tool: "demo://about" },
    { kind: "prompt" },
  ]);
});

test("without a model, opening a conversation says so", async () => {
  await using scene = await consoleScene({ servers: {} });
  await expect(scene.run("chat/open", {})).rejects.toMatchObject({ code: "model" });
});
