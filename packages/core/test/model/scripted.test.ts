import { expect, test } from "vitest";
import { createScriptedModel } from "../../src/model/scripted.ts";
import type { Content } from "../../src/normalise/model-types.ts";
import { all, user } from "../support/model-contract.ts";

const script = `# Adding
{"role":"user","parts":[{"text":"What is   2 + 3?"}]}
{"role":"model","parts":[{"text":"Hm.","thought":true,"thoughtSignature":"c2ln"},{"functionCall":{"id":"1","name":"add","args":{"a":2}}}]}

{"role":"user","parts":[{"functionResponse":{"name":"add"}}]}
{"role":"model","parts":[{"text":"5"}],"finish":{"reason":"length","message":"enough"}}
`;
const asked = user("Please: what... What is 2 + 3?", "(a file)");
const called: Content = {
  role: "model",
  parts: [
    { text: "Hm.", thought: true, thoughtSignature: "c2ln" },
    { functionCall: { id: "1", name: "add", args: { a: 2 } } },
  ],
};
const answered = (name: string): Content => ({
  role: "user",
  parts: [{ functionResponse: { name, response: { output: "5" } } }],
});

test("a conversation that goes as it was recorded gets the answers that were recorded, as they were", async () => {
  const model = createScriptedModel({ script });
  expect(await all(model, [asked])).toEqual([
    { type: "thought", text: "Hm." },
    { type: "call", call: { id: "1", name: "add", args: { a: 2 } } },
    { type: "finish", reason: "stop", content: called },
  ]);
  expect(await all(model, [asked, called, answered("add")])).toEqual([
    { type: "text", text: "5" },
    { type: "finish", reason: "length", message: "enough", content: { role: "model", parts: [{ text: "5" }] } },
  ]);
  await expect(all(model, [user("more")])).rejects.toMatchObject({
    code: "model",
    message: "the script has only 2 answers, but the conversation needs answer 3",
  });
});

test("a request that is another one is told where the script differs", async () => {
  const model = createScriptedModel({ script, source: "adding.jsonl" });
  await expect(all(model, [user("What is 2 + 4?")])).rejects.toMatchObject({
    code: "model",
    message: 'adding.jsonl, line 3: the request before this answer does not contain "What is   2 + 3?"',
  });
  await expect(all(model, [asked, called, answered("subtract")])).rejects.toMatchObject({
    message: "adding.jsonl, line 6: the request before this answer answers subtract, not add",
  });
});

test.each([
  ['{"role":"model"}', /line 1 must be a message/],
  ["\nnot json", /line 2 must be a message/],
  ['{"role":"system","parts":[]}', /line 1 must be a message/],
  ['{"role":"model","parts":["x"]}', /line 1 must be a message/],
  ['{"role":"model","parts":[],"finish":{"reason":"done"}}', /line 1: "finish" needs a reason: stop, length/],
])("%j is no script", (text, message) => {
  expect(() => createScriptedModel({ script: text })).toThrow(message);
});

test("a scripted model accepts any number of tools in Gemini's dialect, with media in responses", () => {
  expect(createScriptedModel({ script: "", source: "a.jsonl" })).toEqual({
    provider: "scripted",
    name: "a.jsonl",
    dialect: "gemini",
    maxDeclarations: Number.POSITIVE_INFINITY,
    stream: expect.any(Function),
  });
});

test.each(["stop", "length", "safety", "malformed_call", "other"])("an answer may finish with %s", async (reason) => {
  const model = createScriptedModel({ script: `{"role":"model","parts":[],"finish":{"reason":"${reason}"}}` });
  expect(await all(model, [])).toEqual([{ type: "finish", reason, content: { role: "model", parts: [] } }]);
});

test("the user reads all reasons with which an answer may finish", () => {
  const script = '{"role":"model","parts":[],"finish":7}';
  expect(() => createScriptedModel({ script })).toThrow(
    'the script, line 1: "finish" needs a reason: stop, length, safety, malformed_call, other',
  );
});

test("only the messages after the model's last answer are compared with the script", async () => {
  const lines = ['{"role":"user","parts":[{"text":"again"},{"text":"more"}]}', '{"role":"model","parts":[]}'];
  const run = (...messages: readonly Content[]) => all(createScriptedModel({ script: lines.join("\n") }), messages);
  const missing = (text: string) => ({
    message: `the script, line 2: the request before this answer does not contain "${text}"`,
  });
  const model: Content = { role: "model", parts: [{ text: "again more" }] };
  await expect(run(user("again more"), model, user("x"))).rejects.toMatchObject(missing("again"));
  await expect(run(user("x"), model, user("again"))).rejects.toMatchObject(missing("more"));
  expect(await run(user("x"), model, user("again"), user("more"))).toHaveLength(1);
});

test("the response of a function counts as text of the request; a request without one is an error", async () => {
  const line = '{"role":"user","parts":[{"text":"\\"output\\":\\"5\\""},{"functionResponse":{"name":"add"}}]}';
  const run = (message: Content) =>
    all(createScriptedModel({ script: `${line}\n{"role":"model","parts":[]}` }), [message]);
  expect(await run(answered("add"))).toHaveLength(1);
  await expect(run(user('"output":"5"'))).rejects.toMatchObject({
    message: "the script, line 2: the request before this answer answers no function, not add",
  });
  await expect(run({ role: "user", parts: [{ functionResponse: { name: "add" } }] })).rejects.toMatchObject({
    message: `the script, line 2: the request before this answer does not contain ""output":"5""`,
  });
  await expect(run({ role: "user", parts: [{ inlineData: { mimeType: "a/b", data: "" } }] })).rejects.toMatchObject({
    message: `the script, line 2: the request before this answer does not contain ""output":"5""`,
  });
});

test("a cancelled request gets no answer of the script, and the rest of an answer is not sent", async () => {
  const model = createScriptedModel({ script: '{"role":"model","parts":[{"text":"a"},{"text":"b"}]}' });
  const abort = new AbortController();
  const cancelled = { code: "cancelled" };
  await expect(all(model, [], AbortSignal.abort())).rejects.toMatchObject(cancelled);
  const seen: unknown[] = [];
  const reading = async (): Promise<void> => {
    for await (const event of model.stream([], [], abort.signal)) {
      seen.push(event);
      abort.abort();
    }
  };
  await expect(reading()).rejects.toMatchObject(cancelled);
  expect(seen).toEqual([{ type: "text", text: "a" }]);
});
