import { answered, inTurn, openaiError, says, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { createModelFetch } from "../../../src/model/model-fetch.ts";
import { endpointOf } from "../../../src/model/model-list.ts";
import { createOpenaiModel } from "../../../src/model/openai/openai.ts";
import type { Content } from "../../../src/normalise/model-types.ts";
import { all, finishOf, tools, user } from "../../support/model-contract.ts";
import { openaiScene } from "../../support/model-legs.ts";

const signal = new AbortController().signal;
const png = { inlineData: { mimeType: "image/png", data: "aGk=" } };

test("what it is told and offered is in the request, under names that its API takes", async () => {
  const { api, model } = await openaiScene({ answer: inTurn(says("a")), apiKey: "a-key" });
  for await (const event of model.stream([user("hi")], tools, signal, { system: "Be brief." }))
    expect(event).toBeDefined();
  expect(api.seen.map(({ body }) => body)).toEqual([
    {
      model: "test-model",
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hi" },
      ],
      tools: ["add", "files_read"].map((name, at) => ({
        type: "function",
        function: { name, description: tools[at]?.description, parameters: tools[at]?.parametersJsonSchema },
      })),
    },
  ]);
  expect(api.seen[0]?.headers.authorization).toBe("Bearer a-key");
});

test("a conversation that another model began goes on: calls get ids, results find them, images follow", async () => {
  const { api, model } = await openaiScene({ answer: inTurn(says("a")) });
  const history: Content[] = [
    user("look", "closely"),
    {
      role: "model",
      parts: [
        { text: "Hm.", thought: true },
        { text: "I will." },
        { functionCall: { name: "add", args: { a: 1 } }, thoughtSignature: "c2ln" },
        { functionCall: { name: "files.read", args: {} } },
        { functionCall: { id: "own", name: "add", args: { a: 2 } } },
      ],
    },
    {
      role: "user",
      parts: [
        { functionResponse: { id: "own", name: "add", response: { error: "no" } } },
        { functionResponse: { name: "add", response: { output: "1" }, parts: [png] } },
        { functionResponse: { name: "files.read", response: { output: { lines: 2 } } } },
        { inlineData: { mimeType: "audio/wav", data: "aGlo" } },
      ],
    },
    { role: "model", parts: [{ text: "only thought", thought: true }] },
    user("so?"),
  ];
  for await (const event of model.stream(history, tools, signal)) expect(event).toBeDefined();
  expect(api.seen[0]?.body.messages).toEqual([
    { role: "user", content: "look\nclosely" },
    {
      role: "assistant",
      content: "I will.",
      tool_calls: [
        { id: "call_1_0", type: "function", function: { name: "add", arguments: '{"a":1}' } },
        { id: "call_1_1", type: "function", function: { name: "files_read", arguments: "{}" } },
        { id: "own", type: "function", function: { name: "add", arguments: '{"a":2}' } },
      ],
    },
    { role: "tool", tool_call_id: "own", content: "Error: no" },
    { role: "tool", tool_call_id: "call_1_0", content: "1" },
    { role: "tool", tool_call_id: "call_1_1", content: '{"lines":2}' },
    {
      role: "user",
      content: [
        { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
        { type: "text", text: "[audio/wav, 3 B: cannot be shown to this model]" },
      ],
    },
    { role: "user", content: "so?" },
  ]);
});

test.each(["reasoning_content", "reasoning"] as const)("what stands in %s is thought", async (thoughtField) => {
  const answer = inTurn({ pieces: [{ thought: "Hm." }, { text: "Yes." }] });
  const { model } = await openaiScene({ answer, thoughtField });
  const events = await all(model, [user("hi")]);
  expect(events).toEqual([
    { type: "thought", text: "Hm." },
    { type: "text", text: "Yes." },
    { type: "usage", inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
    {
      type: "finish",
      reason: "stop",
      content: { role: "model", parts: [{ text: "Hm.", thought: true }, { text: "Yes." }] },
    },
  ]);
});

test.each([
  ["length", { pieces: [{ text: "Hel" }], finish: "length" }, "length"],
  ["safety", { pieces: [{ text: "Hel" }], finish: "safety" }, "safety"],
  ["a call that makes no sense", { pieces: [{ call: "add", rawArguments: '{"a":' }] }, "malformed_call"],
  ["a call that is cut", { pieces: [{ call: "add", rawArguments: '{"a":' }], finish: "length" }, "length"],
] as const)("an answer that ends with %s says so, and calls nothing", async (_what, answer, reason) => {
  const { model } = await openaiScene({ answer: inTurn(answer) });
  const events = await all(model, [user("hi")]);
  expect(finishOf(events)).toMatchObject({ reason, message: expect.any(String) });
  expect(events.filter(({ type }) => type === "call")).toEqual([]);
  expect(finishOf(events).content.parts.some(({ functionCall }) => functionCall)).toBe(false);
});

test("whatever the size of the pieces on the wire, and without the last line, the answer is the same", async () => {
  const answer = inTurn({ pieces: [{ text: "Grüße, 世界 🎉" }, { call: "add", args: { a: "🎉" } }] });
  const { model } = await openaiScene({ answer, bytesPerWrite: 7, hasDone: false });
  expect(finishOf(await all(model, [user("hi")])).content.parts).toMatchObject([
    { text: "Grüße, 世界 🎉" },
    { functionCall: { name: "add", args: { a: "🎉" } } },
  ]);
});

/** An endpoint of the test's own, for what no stand-in would do. */
async function answering(type: string, ...bodies: readonly (string | readonly [number, string])[]) {
  const left = [...bodies];
  const web = await webServer((_request, response) => {
    const next = left.shift() ?? "";
    const [status, body] = typeof next === "string" ? [200, next] : next;
    response.writeHead(status, { "content-type": type }).end(body);
  });
  const fetch = createModelFetch({ env: {}, clock: systemClock });
  const model = createOpenaiModel({ name: "m", baseUrl: `${web.origin}/v1/`, fetch, clock: systemClock });
  return { model, web, [Symbol.asyncDispose]: () => web[Symbol.asyncDispose]() };
}

const document = JSON.stringify({
  choices: [
    {
      message: { content: "Hello", tool_calls: [{ id: "x", function: { name: "add", arguments: "{}" } }] },
      finish_reason: "tool_calls",
    },
  ],
  usage: { prompt_tokens: 5, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 3 } },
});

test("an endpoint that does not stream is understood all the same", async () => {
  await using scene = await answering("application/json; charset=utf-8", document);
  expect(await all(scene.model, [user("hi")])).toEqual([
    { type: "text", text: "Hello" },
    { type: "call", call: { id: "x", name: "add", args: {} } },
    { type: "usage", inputTokens: 5, outputTokens: 2, cachedTokens: 3 },
    {
      type: "finish",
      reason: "stop",
      content: { role: "model", parts: [{ text: "Hello" }, { functionCall: { id: "x", name: "add", args: {} } }] },
    },
  ]);
});

test("an endpoint that does not know how to count is asked without", async () => {
  const refusal = [422, '{"detail":"extra fields not permitted: stream_options"}'] as const;
  await using scene = await answering("application/json", refusal, document);
  expect(finishOf(await all(scene.model, [user("hi")])).reason).toBe("stop");
  expect(scene.web.seen.map(({ body }) => body.includes("stream_options"))).toEqual([true, false]);
});

test.each([
  ["a text", { content: "hi" }, "stop"],
  ["nothing", {}, "other"],
])("an end by an unknown word, behind %s", async (_what, message, reason) => {
  await using web = await webServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ choices: [{ message, finish_reason: "eos_token" }] }));
  });
  const fetch = createModelFetch({ env: {}, clock: systemClock });
  const model = createOpenaiModel({ name: "m", baseUrl: web.origin, fetch, clock: systemClock });
  expect(finishOf(await all(model, [user("hi")])).reason).toBe(reason);
});

test("a model that cannot see is told what there would be to see, from then on at once", async () => {
  const { api, model } = await openaiScene({ answer: inTurn(says("a"), says("b")) });
  api.interrupt("chat", answered(openaiError(400, "image_url is only supported by vision models")));
  const history: Content[] = [{ role: "user", parts: [{ text: "look" }, png] }];
  expect(finishOf(await all(model, history)).reason).toBe("stop");
  expect(finishOf(await all(model, history)).reason).toBe("stop");
  const told = "look\n[image/png, 2 B: cannot be shown to this model]";
  expect(api.seen.map(({ body }) => body.messages?.[0]?.content)).toEqual([expect.any(Array), told, told]);
});

test("a refusal that speaks of images and is about something else leaves them where they are", async () => {
  const { api, model } = await openaiScene({ answer: inTurn(says("a")) });
  api.interrupt("chat", answered(openaiError(400, "bad schema: 'an image'")), 2);
  const history: Content[] = [{ role: "user", parts: [{ text: "look" }, png] }];
  expect(await all(model, history)).toMatchObject([{ type: "rejected" }]);
  await all(model, history);
  expect(api.seen.at(-1)?.body.messages?.[0]?.content).toHaveLength(2);
});

test("the older way to call a function is not taken for a call; a refusal is text, and ends with safety", async () => {
  const events = [
    { choices: [{ delta: { function_call: { name: "add", arguments: "{}" } } }] },
    { choices: [{ delta: { refusal: "I will not." } }] },
    { choices: [{ delta: {}, finish_reason: "stop" }] },
  ];
  await using scene = await answering(
    "text/event-stream",
    `: hello\n\n${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}`,
  );
  const told = await all(scene.model, [user("hi")]);
  expect(told[0]).toEqual({ type: "text", text: "I will not." });
  expect(told.map(({ type }) => type)).not.toContain("call");
});

test.each([
  ["http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1/models"],
  ["http://127.0.0.1:1/v1/", "http://127.0.0.1:1/v1/models"],
  ["https://gateway.example/openai?api-version=2", "https://gateway.example/openai/models?api-version=2"],
])("below %s is %s", (base, expected) => {
  expect(endpointOf(base, "models").href).toBe(expected);
});

test("OpenAI's own API takes 128 declarations; others are given 512 at most", () => {
  const fetch = createModelFetch({ env: {}, clock: systemClock });
  const limitOf = (baseUrl: string): number =>
    createOpenaiModel({ name: "m", baseUrl, fetch, clock: systemClock }).maxDeclarations;
  expect(limitOf("https://api.openai.com/v1")).toBe(128);
  expect(limitOf("http://127.0.0.1:11434/v1")).toBe(512);
});
