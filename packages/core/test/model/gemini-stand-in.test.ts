import {
  answered,
  calls,
  cutAfter,
  endsAfter,
  failsAfter,
  type GeminiApi,
  geminiApi,
  inTurn,
  internalError,
  type ModelAnswer,
  overloaded,
  quotaExceeded,
  says,
  silence,
  stallsAfter,
  until,
} from "@fairlead/test-servers";
import { type Content, GoogleGenAI } from "@google/genai";
import { expect, test } from "vitest";

const add = { name: "add", description: "Adds.", parametersJsonSchema: { type: "object", properties: {} } };

function clientOf(api: GeminiApi, apiKey = "test-key"): GoogleGenAI {
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: api.baseUrl } });
}

interface Heard {
  readonly parts: unknown[];
  readonly finish: unknown;
}

async function ask(api: GeminiApi, contents: Content[] | string = "hi", signal?: AbortSignal): Promise<Heard> {
  const config = { tools: [{ functionDeclarations: [add] }], ...(signal && { abortSignal: signal }) };
  const stream = await clientOf(api).models.generateContentStream({ model: "gemini-2.5-flash", contents, config });
  const parts: unknown[] = [];
  let finish: unknown;
  for await (const { candidates: [candidate] = [], promptFeedback } of stream) {
    parts.push(...(candidate?.content?.parts ?? []).filter((part) => part.text !== ""));
    finish = candidate?.finishReason ?? promptFeedback?.blockReason ?? finish;
  }
  return { parts, finish };
}

test("a script is streamed piece by piece, and what was asked is kept", async () => {
  const pieces = [{ thought: "hm" }, { text: "let me" }, { call: "add", args: { a: 1 } }, { call: "add" }];
  await using api = await geminiApi({ answer: inTurn({ pieces }, says("3")) });
  expect(await ask(api)).toEqual({
    parts: [
      { text: "hm", thought: true },
      { text: "let me" },
      { functionCall: { id: "call-1", name: "add", args: { a: 1 } }, thoughtSignature: "c2lnbmF0dXJlIDE=" },
      { functionCall: { id: "call-2", name: "add", args: {} } },
    ],
    finish: "STOP",
  });
  expect(api.seen).toMatchObject([
    {
      method: "streamGenerateContent",
      api: "gemini",
      model: "gemini-2.5-flash",
      body: { contents: [{ role: "user", parts: [{ text: "hi" }] }], tools: [{ functionDeclarations: [add] }] },
    },
  ]);
});

test("the same comes in one body from generateContent", async () => {
  await using api = await geminiApi({ answer: inTurn({ pieces: [{ text: "a" }, { call: "add" }], finish: "length" }) });
  const { candidates, usageMetadata } = await clientOf(api).models.generateContent({
    model: "gemini-2.5-flash",
    contents: "hi",
  });
  expect(candidates).toEqual([
    {
      content: {
        role: "model",
        parts: [
          { text: "a" },
          { functionCall: { id: "call-1", name: "add", args: {} }, thoughtSignature: "c2lnbmF0dXJlIDE=" },
          { text: "" },
        ],
      },
      finishReason: "MAX_TOKENS",
      index: 0,
    },
  ]);
  expect(usageMetadata?.promptTokenCount).toBeGreaterThan(0);
});

test.for<readonly [ModelAnswer, Heard]>([
  [
    { pieces: [{ text: "a" }], finish: "safety" },
    { parts: [{ text: "a" }], finish: "SAFETY" },
  ],
  [
    { pieces: [], finish: "malformed_call" },
    { parts: [], finish: "MALFORMED_FUNCTION_CALL" },
  ],
  [
    { pieces: [], finish: "blocked" },
    { parts: [], finish: "PROHIBITED_CONTENT" },
  ],
  [
    { pieces: [], finish: "empty" },
    { parts: [], finish: undefined },
  ],
  [
    { pieces: [{ text: "a" }], finish: "cut" },
    { parts: [{ text: "a" }], finish: undefined },
  ],
])("an answer may end badly: %j", async ([answer, heard]) => {
  await using api = await geminiApi({ answer: () => answer });
  expect(await ask(api)).toEqual(heard);
});

test("an answer without calls may end in a signature", async () => {
  await using api = await geminiApi({ answer: () => says("a"), signsText: true });
  const stream = await clientOf(api).models.generateContentStream({ model: "gemini-2.5-flash", contents: "hi" });
  const parts: unknown[] = [];
  for await (const { candidates: [candidate] = [] } of stream) parts.push(...(candidate?.content?.parts ?? []));
  expect(parts).toEqual([{ text: "a" }, { text: "", thoughtSignature: "c2lnbmF0dXJlIDE=" }]);
});

test("cut into single bytes, the stream says the same", async () => {
  await using api = await geminiApi({ answer: () => says("héllo", "→ wörld"), bytesPerWrite: 1 });
  expect(await ask(api)).toEqual({ parts: [{ text: "héllo" }, { text: "→ wörld" }], finish: "STOP" });
});

test("errors have the API's shapes, and pass", async () => {
  await using api = await geminiApi({ answer: inTurn(says("at last")) });
  api.interrupt("generate", answered(quotaExceeded({ delay: "1.5s" })));
  api.interrupt("generate", answered(internalError()));
  api.interrupt("generate", answered(overloaded()));
  await expect(ask(api)).rejects.toMatchObject({
    status: 429,
    message: expect.stringContaining('"retryDelay":"1.5s"'),
  });
  await expect(ask(api)).rejects.toMatchObject({ status: 500, message: expect.stringContaining("INTERNAL") });
  await expect(ask(api)).rejects.toMatchObject({ status: 503, message: expect.stringContaining("UNAVAILABLE") });
  expect(await ask(api)).toEqual({ parts: [{ text: "at last" }], finish: "STOP" });
});

test("a stream may be cut, end too early, or fail in its midst", async () => {
  await using api = await geminiApi({ answer: () => says("a", "b") });
  api.interrupt("generate", cutAfter(1));
  api.interrupt("generate", endsAfter(1));
  api.interrupt("generate", failsAfter(1, overloaded()));
  await expect(ask(api)).rejects.toThrow("terminated");
  expect(await ask(api)).toEqual({ parts: [{ text: "a" }], finish: undefined });
  await expect(ask(api)).rejects.toThrow("UNAVAILABLE");
});

test("who does not wait for the end is seen to have left", async () => {
  await using api = await geminiApi({ answer: () => says("a", "b") });
  for (const [index, fault] of [silence, stallsAfter(1)].entries()) {
    api.interrupt("generate", fault);
    const controller = new AbortController();
    const asking = ask(api, "hi", controller.signal);
    await until(() => api.seen.length > index);
    controller.abort();
    await expect(asking).rejects.toThrow("abort");
    await until(() => api.seen[index]?.outcome === "abandoned");
  }
});

test("a piece can wait for what a test does", async () => {
  let go = () => {};
  const until = new Promise<void>((resolve) => {
    go = resolve;
  });
  await using api = await geminiApi({ answer: () => ({ pieces: [{ text: "a" }, { until }, { text: "b" }] }) });
  const stream = await clientOf(api).models.generateContentStream({ model: "gemini-2.5-flash", contents: "hi" });
  const heard: (string | undefined)[] = [];
  for await (const { text } of stream) {
    heard.push(text);
    go();
  }
  expect(heard).toEqual(["a", "b", ""]);
});

test("a script that has ended says so", async () => {
  await using api = await geminiApi({ answer: inTurn() });
  await expect(ask(api)).rejects.toThrow("the script has 0 answers, and this would be number 1");
});

test.for([
  ["a wrong key", { apiKey: "other" }, 400, "API_KEY_INVALID"],
  ["an unknown model", { models: [] }, 404, "models/gemini-2.5-flash is not found"],
] as const)("%s is refused", async ([, settings, status, words]) => {
  await using api = await geminiApi(settings);
  await expect(ask(api)).rejects.toMatchObject({ status, message: expect.stringContaining(words) });
});

test("Vertex AI is at its own address", async () => {
  await using api = await geminiApi({ answer: () => calls("add") });
  const vertex = new GoogleGenAI({
    vertexai: true,
    apiKey: "any",
    httpOptions: { baseUrl: api.baseUrl },
  });
  const { functionCalls } = await vertex.models.generateContent({ model: "gemini-2.5-flash", contents: "hi" });
  expect(functionCalls).toEqual([{ id: "call-1", name: "add", args: {} }]);
  expect(api.seen[0]).toMatchObject({ api: "vertex", model: "gemini-2.5-flash" });
});
