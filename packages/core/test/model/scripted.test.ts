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
