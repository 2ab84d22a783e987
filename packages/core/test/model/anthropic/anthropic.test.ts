import { calls, inTurn, says } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { Model, ModelEvent } from "../../../src/model/model.ts";
import type { Content, FunctionDeclaration } from "../../../src/normalise/model-types.ts";
import { all, finishOf, tools, user } from "../../support/model-contract.ts";
import { anthropicScene, geminiScene, openaiScene } from "../../support/model-legs.ts";

const response = (id: string | undefined, more: object = { response: { output: "1" } }): Content => ({
  role: "user",
  parts: [{ functionResponse: { ...(id !== undefined && { id }), name: "add", ...more } }],
});

function callIn(content: Content) {
  return content.parts.find(({ functionCall }) => functionCall)?.functionCall ?? {};
}

test("a request has the version, the key, the limit of the answer, and no more than four marks for the cache", async () => {
  const { api, model } = await anthropicScene({ answer: inTurn(says("one"), says("two"), says("three")) });
  const signal = new AbortController().signal;
  const history: Content[] = [];
  for (const text of ["a", "b", "c"]) {
    history.push(user(text));
    const events: ModelEvent[] = [];
    for await (const event of model.stream(history, tools, signal, { system: "Be kind." })) events.push(event);
    history.push(finishOf(events).content);
  }
  expect(api.requests[0]?.headers).toMatchObject({ "x-api-key": "test-key", "anthropic-version": "2023-06-01" });
  const mark = { cache_control: { type: "ephemeral" } };
  const said = (text: string, marks = {}) => [{ type: "text", text, ...marks }];
  expect(api.seen[2]).toEqual({
    model: "claude-sonnet-test",
    max_tokens: 32_000,
    stream: true,
    system: said("Be kind.", mark),
    // The end of the previous request is marked too, so that the API finds it however much came since.
    messages: [
      { role: "user", content: said("a") },
      { role: "assistant", content: said("one") },
      { role: "user", content: said("b", mark) },
      { role: "assistant", content: said("two") },
      { role: "user", content: said("c", mark) },
    ],
    tools: [
      { name: "add", description: expect.any(String), input_schema: expect.objectContaining({ type: "object" }) },
      { name: "files_read", description: expect.any(String), input_schema: expect.any(Object), ...mark },
    ],
  });
});

test("tokens from the cache count as input, and are told apart", async () => {
  const { model } = await anthropicScene({ answer: () => says("ok") });
  const [usage] = (await all(model, [user("a")])).filter(({ type }) => type === "usage");
  expect(usage).toMatchObject({ inputTokens: expect.any(Number), cachedTokens: 0 });
  const [next] = (await all(model, [user("a")])).filter(({ type }) => type === "usage");
  expect(next).toMatchObject({ inputTokens: (usage as { inputTokens: number }).inputTokens });
  expect((next as { cachedTokens: number }).cachedTokens).toBeGreaterThan(0);
});

test.each([false, true])("a thought goes back unchanged with the result of a call; encrypted: %s", async (redacts) => {
  const answer = inTurn({ pieces: [{ thought: "Let me add. " }, { call: "add", args: { a: 1 } }] }, says("1"));
  const { api, model } = await anthropicScene({ answer, redactsThoughts: redacts });
  const events = await all(model, [user("add")]);
  const thoughts = events.flatMap((event) => (event.type === "thought" ? [event.text] : []));
  expect(thoughts).toEqual(redacts ? [] : ["Let me add. "]);
  const { content } = finishOf(events);
  // As a recorded conversation keeps it.
  const kept = JSON.parse(JSON.stringify(content)) as Content;
  expect(finishOf(await all(model, [user("add"), kept, response(callIn(kept).id)])).content.parts).toEqual([
    { text: "1" },
  ]);
  expect(api.seen).toHaveLength(2);
});

test("thoughts of another model, or changed ones, stay at home", async () => {
  const thinks = { pieces: [{ thought: "Hm." }, { text: "one" }] };
  const first = await anthropicScene({ answer: inTurn(thinks) });
  const { content } = finishOf(await all(first.model, [user("a")]));
  const history = [user("a"), content, user("b")];
  const other = await anthropicScene({ answer: inTurn(says("two")) }, { name: "claude-opus-test" });
  expect(finishOf(await all(other.model, history)).content.parts).toEqual([{ text: "two" }]);
  expect(other.api.seen).toHaveLength(1);
  // The same name, but the API refuses the signature: it is asked once more without the thought.
  const refusing = await anthropicScene({ answer: inTurn(says("three")) });
  expect(finishOf(await all(refusing.model, history)).content.parts).toEqual([{ text: "three" }]);
  expect(refusing.api.seen).toHaveLength(2);
  const gemini = await geminiScene({ answer: inTurn(says("four")) });
  expect(finishOf(await all(gemini.model, history)).content.parts).toEqual([{ text: "four" }]);
  expect(JSON.stringify(gemini.api.seen[0]?.body)).not.toMatch(/thinking@|Hm\./);
});

test("a conversation with another API is continued, whatever ids its calls have", async () => {
  const openai = await openaiScene({ answer: inTurn(calls("add", { a: 1 }), calls("add", { a: 2 })) });
  const history: Content[] = [user("add")];
  for (let round = 0; round < 2; round += 1) {
    const { content } = finishOf(await all(openai.model, history));
    // Some endpoints give every call the same id, and some an id with other characters, or none.
    const parts = content.parts.map((part) => ({ functionCall: { ...part.functionCall, id: "call:0" } }));
    history.push({ role: "model", parts }, response("call:0"));
  }
  history.push(
    { role: "model", parts: [{ functionCall: { name: "add", args: {} } }] },
    response(undefined, { response: { error: "no" } }),
    user("and?"),
  );
  const { api, model } = await anthropicScene({ answer: inTurn(says("ok")) });
  expect(finishOf(await all(model, history)).reason).toBe("stop");
  expect(api.seen[0]?.messages?.at(-1)).toMatchObject({
    role: "user",
    content: [
      { type: "tool_result", is_error: true, content: [{ text: "Error: no" }] },
      { type: "text", text: "and?" },
    ],
  });
});

const png = Buffer.from("png").toString("base64");

test("images and documents of a result go along, and what the API does not take is described", async () => {
  const { api, model } = await anthropicScene({ answer: inTurn(calls("add"), says("seen")) });
  const { content } = finishOf(await all(model, [user("look")]));
  const media = ["image/png", "application/pdf", "audio/wav", "image/svg+xml"].map((mimeType) => ({
    inlineData: { mimeType, data: png },
  }));
  const large = { inlineData: { mimeType: "image/png", data: "A".repeat(5 * 1024 * 1024 + 4) } };
  const result = response(callIn(content).id, { response: { output: "" }, parts: [...media, large] });
  expect(finishOf(await all(model, [user("look"), content, result])).reason).toBe("stop");
  const source = (media_type: string) => ({ type: "base64", media_type, data: png });
  const block = api.seen[1]?.messages?.at(-1)?.content?.[0];
  expect(block).toMatchObject({
    content: [
      { type: "image", source: source("image/png") },
      { type: "document", source: source("application/pdf") },
      { type: "text", text: "[audio/wav, 3 B: cannot be shown to this model]" },
      { type: "text", text: "[image/svg+xml, 3 B: cannot be shown to this model]" },
      { type: "text", text: expect.stringMatching(/^\[image\/png, .*: cannot be shown to this model\]$/) },
    ],
  });
});

test("a model without eyes gets a description instead of an image", async () => {
  const { api, model } = await anthropicScene({ answer: inTurn(says("ok")), takesImages: false });
  const message: Content = {
    role: "user",
    parts: [{ inlineData: { mimeType: "image/png", data: png } }, { text: "?" }],
  };
  expect(finishOf(await all(model, [message])).reason).toBe("stop");
  expect(api.seen.map(({ messages }) => JSON.stringify(messages).includes("cannot be shown"))).toEqual([false, true]);
});

test("a model with a smaller limit is asked again within it, and from then on at once", async () => {
  const { api, model } = await anthropicScene({ answer: () => says("ok"), maxOutputTokens: 4096 });
  for (const text of ["a", "b"]) expect(finishOf(await all(model, [user(text)])).reason).toBe("stop");
  expect(api.seen.map(({ max_tokens: most }) => most)).toEqual([32_000, 4096, 4096]);
});

test.each([
  ["length", "length", "the answer ended early (max_tokens)"],
  ["safety", "safety", "the answer ended early (refusal)"],
  ["other", "other", "the answer ended early (pause_turn)"],
] as const)("an answer that ends with %s says so", async (finish, reason, message) => {
  const { model } = await anthropicScene({ answer: inTurn({ pieces: [{ text: "one" }, { call: "add" }], finish }) });
  const events = await all(model, [user("hi")]);
  expect(finishOf(events)).toMatchObject({ reason, message });
  expect(events.some(({ type }) => type === "call")).toBe(reason !== "safety");
});

test("a call that is not JSON is an invalid call, and one that the limit cut off is none", async () => {
  const pieces = [{ text: "one" }, { call: "add", rawArguments: '{"a":' }];
  const { model } = await anthropicScene({ answer: inTurn({ pieces }, { pieces, finish: "length" }) });
  expect(finishOf(await all(model, [user("hi")]))).toEqual({
    type: "finish",
    reason: "malformed_call",
    message: 'the arguments of add are not a JSON object: {"a":',
    content: { role: "model", parts: [{ text: "one" }] },
  });
  expect(finishOf(await all(model, [user("hi")]))).toMatchObject({
    reason: "length",
    content: { parts: [{ text: "one" }] },
  });
});

async function stream(model: Model, given: readonly FunctionDeclaration[]): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream([user("hi")], given, new AbortController().signal)) events.push(event);
  return events;
}

test("the API's message names the tool that it refuses", async () => {
  const refuses = ({ name }: { name?: string }) =>
    name === "files_read" ? 'JSON schema is invalid "tools.0"' : undefined;
  const { model } = await anthropicScene({ refuses });
  expect(await stream(model, tools)).toEqual([
    {
      type: "rejected",
      message: 'tools.1.custom.input_schema: JSON schema is invalid "tools.0"',
      declaration: 1,
    },
  ]);
});
