import {
  answered,
  calls,
  cutAfter,
  endsAfter,
  inTurn,
  type ModelAnswer,
  type OpenaiApi,
  type OpenaiSettings,
  obedient,
  openaiApi,
  quotaUsedUp,
  rateLimited,
  says,
  serverError,
} from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";

interface Delta {
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly { index: number; id?: string; function: { name?: string; arguments: string } }[];
}

interface Chunk {
  readonly choices: readonly { readonly delta: Delta; readonly finish_reason: string | null }[];
  readonly usage?: object;
}

const messages = [{ role: "user", content: "hi" }];
const two: ModelAnswer = {
  pieces: [
    { call: "add", args: { a: 12 } },
    { call: "echo", args: { t: "éé" } },
  ],
};

function post(api: OpenaiApi, body: object = {}, headers: Record<string, string> = {}): Promise<Response> {
  const all = { model: "test-model", messages, stream: true, ...body };
  return fetch(`${api.baseUrl}/chat/completions`, { method: "POST", headers, body: JSON.stringify(all) });
}

async function chunksOf(api: OpenaiApi, body: object = {}): Promise<(Chunk | "[DONE]")[]> {
  const text = await (await post(api, body)).text();
  return text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => event.slice("data: ".length))
    .map((data) => (data === "[DONE]" ? data : (JSON.parse(data) as Chunk)));
}

async function deltasOf(api: OpenaiApi): Promise<Delta[]> {
  const chunks = await chunksOf(api);
  return chunks.flatMap((chunk) => (chunk === "[DONE]" ? [] : chunk.choices.map(({ delta }) => delta)));
}

async function answerTo(settings: Partial<OpenaiSettings>, body: object = {}, headers = {}): Promise<unknown> {
  await using api = await openaiApi({ answer: () => says("ok"), ...settings });
  const response = await post(api, { stream: false, ...body }, headers);
  const answer = (await response.json()) as { error?: object; choices?: readonly { message: object }[] };
  return answer.error ? { status: response.status, ...answer.error } : answer.choices?.[0]?.message;
}

test("a script is streamed piece by piece, and what was asked is kept", async () => {
  await using api = await openaiApi({ answer: inTurn({ pieces: [{ thought: "hm" }, { text: "a" }, { text: "b" }] }) });
  const chunks = await chunksOf(api, { stream_options: { include_usage: true } });
  const choices = chunks.map((chunk) => (chunk === "[DONE]" ? chunk : (chunk.choices[0] ?? chunk.usage)));
  expect(choices).toEqual([
    { index: 0, delta: { role: "assistant", content: "" }, finish_reason: null },
    { index: 0, delta: { reasoning_content: "hm" }, finish_reason: null },
    { index: 0, delta: { content: "a" }, finish_reason: null },
    { index: 0, delta: { content: "b" }, finish_reason: null },
    { index: 0, delta: {}, finish_reason: "stop" },
    { prompt_tokens: expect.any(Number), completion_tokens: expect.any(Number), total_tokens: expect.any(Number) },
    "[DONE]",
  ]);
  expect(api.seen).toMatchObject([{ body: { model: "test-model", messages, stream: true } }]);
});

test.for([
  ["pieces", [0, 0, 0, 0, 1, 1, 1, 1, 1]],
  ["whole", [0, 1]],
  ["same-index", [0, 0]],
  ["interleaved", [0, 1, 0, 1, 0, 1, 0, 1, 1]],
] as const)("calls arrive as %s", async ([callDeltas, order]) => {
  await using api = await openaiApi({ answer: () => two, callDeltas });
  const deltas = (await deltasOf(api)).flatMap(({ tool_calls = [] }) => tool_calls);
  expect(deltas.map(({ index }) => index)).toEqual(order);
  expect(deltas.flatMap(({ id, function: { name } }) => (id === undefined ? [] : [[id, name]]))).toEqual([
    ["call_1", "add"],
    ["call_2", "echo"],
  ]);
  const text = (index: number) =>
    deltas.filter((delta) => delta.index === index).map((delta) => delta.function.arguments);
  if (callDeltas !== "same-index")
    expect([0, 1].map((index) => text(index).join(""))).toEqual(['{"a":12}', '{"t":"éé"}']);
});

test("cut into single bytes, the stream says the same", async () => {
  await using api = await openaiApi({ answer: () => says("héllo →"), bytesPerWrite: 1 });
  expect((await deltasOf(api)).map(({ content = "" }) => content).join("")).toBe("héllo →");
});

test("a model that errs writes arguments that are no JSON", async () => {
  const answer: ModelAnswer = { pieces: [{ call: "add", rawArguments: '{"a":' }] };
  expect(await answerTo({ answer: () => answer })).toEqual({
    role: "assistant",
    content: "",
    tool_calls: [{ id: "call_1", type: "function", function: { name: "add", arguments: '{"a":' } }],
  });
});

test.for<readonly [ModelAnswer, readonly unknown[]]>([
  [{ pieces: [{ text: "a" }], finish: "length" }, [null, null, "length", "[DONE]"]],
  [{ pieces: [], finish: "safety" }, [null, "content_filter", "[DONE]"]],
  [calls("add"), [null, null, null, "tool_calls", "[DONE]"]],
  [{ pieces: [], finish: "empty" }, [null, undefined, "[DONE]"]],
  [{ pieces: [{ text: "a" }], finish: "cut" }, [null, null]],
])("an answer may end in several ways: %j", async ([answer, reasons]) => {
  await using api = await openaiApi({ answer: () => answer });
  const chunks = await chunksOf(api);
  expect(chunks.map((chunk) => (chunk === "[DONE]" ? chunk : chunk.choices[0]?.finish_reason))).toEqual(reasons);
});

test("errors have the API's shapes, and pass", async () => {
  await using api = await openaiApi({ answer: inTurn(says("at last")) });
  for (const error of [rateLimited(2), quotaUsedUp(), serverError(503)]) api.interrupt("chat", answered(error));
  const limited = await post(api);
  expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "2"]);
  expect(await (await post(api)).json()).toMatchObject({ error: { code: "insufficient_quota" } });
  expect((await post(api)).status).toBe(503);
  expect((await deltasOf(api)).map(({ content }) => content)).toEqual(["", "at last", undefined]);
});

test("a stream may be cut or end too early", async () => {
  await using api = await openaiApi({ answer: () => says("a", "b") });
  api.interrupt("chat", cutAfter(2));
  api.interrupt("chat", endsAfter(2));
  await expect(deltasOf(api)).rejects.toThrow("terminated");
  expect((await deltasOf(api)).map(({ content }) => content)).toEqual(["", "a"]);
});

test("models are listed as OpenAI does, and as Ollama does", async () => {
  await using api = await openaiApi({ models: ["llama3:8b"] });
  const get = async (url: string) => (await fetch(url)).json();
  expect(await get(`${api.baseUrl}/models`)).toEqual({ object: "list", data: [{ id: "llama3:8b", object: "model" }] });
  expect(await get(`${api.origin}/api/tags`)).toEqual({ models: [{ name: "llama3:8b", model: "llama3:8b" }] });
});

describe("rules", () => {
  const tool = (name: string, parameters: object = { type: "object", properties: {} }) => ({
    type: "function",
    function: { name, parameters },
  });
  const call = (id: string, name = "add") => ({ id, type: "function", function: { name, arguments: "{}" } });
  const asked = (...after: object[]) => ({ messages: [...messages, ...after] });
  const badSchema = (words: string) => ({
    status: 400,
    message: `Invalid schema for function 'add': ${words}`,
    type: "invalid_request_error",
    param: "tools[0].function.parameters",
    code: "invalid_function_parameters",
  });
  const refused = (param: string | null, code: string | null, message: unknown = expect.any(String)) => ({
    status: 400,
    message,
    type: "invalid_request_error",
    param,
    code,
  });
  const fine = { role: "assistant", content: "ok" };

  test.for<readonly [string, object, unknown]>([
    ["a name of every letter", { tools: [tool("aZ0_-"), tool("1")] }, fine],
    ["a dot in a name", { tools: [tool("add"), tool("a.b")] }, refused("tools[1].function.name", "invalid_value")],
    ["65 characters", { tools: [tool("a".repeat(65))] }, refused("tools[0].function.name", "string_above_max_length")],
    [
      "129 tools",
      { tools: Array.from({ length: 129 }, (_, index) => tool(`f${index}`)) },
      refused("tools", "array_above_max_length"),
    ],
    [
      "not an object",
      { tools: [tool("add", { type: "string" })] },
      badSchema(`schema must be a JSON Schema of 'type: "object"', got 'type: "string"'.`),
    ],
    [
      "no properties",
      { tools: [tool("add", { type: "object" })] },
      badSchema("In context=(), object schema missing properties."),
    ],
    [
      "a list of anything",
      { tools: [tool("add", { type: "object", properties: { a: { anyOf: [{ type: "array" }] } } })] },
      badSchema("In context=('properties', 'a', 'anyOf', '0'), array schema missing items."),
    ],
    [
      "a call and its answer",
      asked({ role: "assistant", tool_calls: [call("a")] }, { role: "tool", tool_call_id: "a", content: "x" }),
      fine,
    ],
    [
      "a call without an answer",
      asked(
        { role: "assistant", tool_calls: [call("a"), call("b")] },
        { role: "tool", tool_call_id: "a", content: "x" },
      ),
      refused("messages.[2].role", null, expect.stringMatching(/did not have response messages: b$/)),
    ],
    [
      "an answer to nothing",
      asked({ role: "tool", tool_call_id: "a", content: "x" }),
      refused("messages.[1].role", null),
    ],
    [
      "a dot in what was called",
      asked({ role: "assistant", tool_calls: [call("a", "a.b")] }),
      refused("messages[1].tool_calls[0].function.name", "invalid_value"),
    ],
    ["an unknown model", { model: "other" }, { ...refused(null, "model_not_found"), status: 404 }],
  ])("%s", async ([, body, answer]) => expect(await answerTo({}, body)).toEqual(answer));

  test("a key is asked for where there is one", async () => {
    expect(await answerTo({ apiKey: "k" })).toEqual({ ...refused(null, "invalid_api_key"), status: 401 });
    expect(await answerTo({ apiKey: "k" }, {}, { authorization: "Bearer k" })).toEqual(fine);
  });

  test("what does not fit is refused, and so is what a test wants refused; the API may say nothing about it", async () => {
    expect(await answerTo({ maxInputTokens: 3 })).toEqual(refused("messages", "context_length_exceeded"));
    const refuses = () => "no.";
    expect(await answerTo({ refuses }, { tools: [tool("add")] })).toEqual(badSchema("no."));
    expect(await answerTo({ refuses, explains: "nothing" }, { tools: [tool("add")] })).toEqual(
      refused(null, null, "Invalid request."),
    );
  });
});

test("the obedient model reads results, also those that come with media of their own", async () => {
  await using api = await openaiApi({ answer: obedient });
  const before = [
    { role: "user", content: "call add" },
    { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "add", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "a", content: "3" },
    { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] },
  ];
  expect(await (await post(api, { messages: before, stream: false })).json()).toMatchObject({
    choices: [{ message: { content: "add: 3 and image/png" } }],
  });
});
