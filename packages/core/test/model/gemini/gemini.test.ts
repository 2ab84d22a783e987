import { calls, geminiApi, inTurn, says, until } from "@fairlead/test-servers";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { createGeminiModel } from "../../../src/model/gemini/gemini.ts";
import { createModelFetch } from "../../../src/model/model-fetch.ts";
import type { Fetch } from "../../../src/net/bounded-fetch.ts";
import type { Content } from "../../../src/normalise/model-types.ts";
import { all, finishOf, tools, user } from "../../support/model-contract.ts";
import { geminiScene } from "../../support/model-legs.ts";

/** Answers nothing, and remembers what it was asked. */
function recordingFetch(bodies: string[]): Fetch {
  return async (_url, { body } = {}) => {
    if (typeof body === "string") bodies.push(body);
    return new Response("{}", { status: 404 });
  };
}

const png = { inlineData: { mimeType: "image/png", data: "aGk=" } };

test("a signature goes back as it came, with the part it came with", async () => {
  const answer = inTurn(
    {
      pieces: [
        { call: "add", args: { a: 1 } },
        { call: "add", args: { a: 2 } },
      ],
    },
    says("3"),
  );
  const { api, model } = await geminiScene({ answer }, { name: "gemini-3-pro-preview" });
  const { content } = finishOf(await all(model, [user("add")]));
  expect(content.parts[0]?.thoughtSignature).toBeTypeOf("string");
  const results: Content = {
    role: "user",
    parts: content.parts.map(({ functionCall: { id = "" } = {} }) => ({
      functionResponse: { id, name: "add", response: { output: 1 } },
    })),
  };
  expect(finishOf(await all(model, [user("add"), content, results])).reason).toBe("stop");
  expect(api.seen[1]?.body.contents).toEqual([user("add"), content, results]);
});

test("pieces of a text become one, and what the model thinks is told apart", async () => {
  const { model } = await geminiScene({
    answer: inTurn({ pieces: [{ thought: "Hm. " }, { thought: "Yes." }, { text: "Hel" }, { text: "lo" }] }),
  });
  const events = await all(model, [user("hi")]);
  expect(events.filter(({ type }) => type === "thought" || type === "text")).toEqual([
    { type: "thought", text: "Hm. " },
    { type: "thought", text: "Yes." },
    { type: "text", text: "Hel" },
    { type: "text", text: "lo" },
  ]);
  expect(finishOf(events).content.parts).toEqual([{ text: "Hm. Yes.", thought: true }, { text: "Hello" }]);
});

test("what was only thought aloud does not go back, nor what is empty; what is signed does", async () => {
  const bodies: string[] = [];
  const { model } = await geminiScene({}, { fetch: recordingFetch(bodies) });
  const signed = [{ text: "", thought: true, thoughtSignature: "c2ln" }, { text: "x" }];
  const history: Content[] = [
    user("one"),
    { role: "model", parts: [{ text: "Hm.", thought: true }, { text: "Yes." }] },
    user("two"),
    { role: "model", parts: signed },
    user("three"),
    { role: "model", parts: [] },
    user("four"),
  ];
  await expect(all(model, history)).rejects.toMatchObject({ code: "model" });
  const { contents } = JSON.parse(bodies[0] ?? "") as { contents: Content[] };
  expect(contents.map(({ parts }) => parts)).toEqual([
    [{ text: "one" }],
    [{ text: "Yes." }],
    [{ text: "two" }],
    signed,
    [{ text: "three" }],
    [{ text: "four" }],
  ]);
});

test("what it is told and offered is in the request, and thoughts are asked for where they are known", async () => {
  const { api, model } = await geminiScene({ answer: inTurn(says("a"), says("b")) });
  const signal = new AbortController().signal;
  for await (const event of model.stream([user("hi")], tools, signal, { system: "Be brief." }))
    expect(event).toBeDefined();
  const plain = createGeminiModel({
    name: "gemini-2.0-flash",
    access: { kind: "key", apiKey: api.settings.apiKey, variable: "GEMINI_API_KEY" },
    baseUrl: api.baseUrl,
    fetch: createModelFetch({ env: {}, clock: systemClock }),
    clock: systemClock,
  });
  api.settings.models = [...api.settings.models, "gemini-2.0-flash"];
  for await (const event of plain.stream([user("hi")], [], signal)) expect(event).toBeDefined();
  expect(api.seen.map(({ body }) => body)).toEqual([
    {
      contents: [user("hi")],
      systemInstruction: { parts: [{ text: "Be brief." }], role: "user" },
      tools: [{ functionDeclarations: tools }],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    },
    { contents: [user("hi")], generationConfig: {} },
  ]);
});

test("usage is told once, with what was thought", async () => {
  const { model } = await geminiScene({ answer: inTurn(says("a", "b", "c")) });
  const usage = (await all(model, [user("hi")])).filter(({ type }) => type === "usage");
  expect(usage).toEqual([{ type: "usage", inputTokens: expect.any(Number), outputTokens: expect.any(Number) }]);
});

test.each([
  ["gemini-3-pro-preview", [{ functionResponse: { name: "add", response: { output: "" }, parts: [png] } }]],
  ["gemini-2.5-flash", [{ functionResponse: { name: "add", response: { output: "" } } }, png]],
])("media of a result stand where %s takes them", async (name, expected) => {
  const answer = inTurn(calls("add"), says("seen"));
  const { api, model } = await geminiScene({ answer, hasCallIds: false, takesMediaInResponses: true }, { name });
  const { content } = finishOf(await all(model, [user("draw")]));
  const parts = [{ functionResponse: { name: "add", response: { output: "" }, parts: [png] } }];
  await all(model, [user("draw"), content, { role: "user", parts }]);
  expect(api.seen[1]?.body.contents?.at(-1)?.parts).toEqual(expected);
});

test.each([
  ["length", { reason: "length", message: "the answer ended early (MAX_TOKENS)", texts: ["Hello"] }],
  ["safety", { reason: "safety", message: "the answer ended early (SAFETY)", texts: ["Hello"] }],
  ["other", { reason: "other", message: "the answer ended early (OTHER)", texts: ["Hello"] }],
  ["blocked", { reason: "safety", message: "the prompt was blocked (PROHIBITED_CONTENT)", texts: [] }],
  [
    "malformed_call",
    {
      reason: "malformed_call",
      message: "the model wrote an invalid call (MALFORMED_FUNCTION_CALL)",
      texts: ["Hello"],
    },
  ],
] as const)(
  "an answer that ends with %s says so, and calls nothing it should not",
  async (finish, { texts, ...expected }) => {
    const pieces = [{ text: "Hello" }, { call: "add" }];
    const { model } = await geminiScene({
      answer: inTurn({ pieces, finish }),
      hasSignatures: false,
      hasCallIds: false,
    });
    const events = await all(model, [user("hi")]);
    const isUsable = finish === "length" || finish === "other";
    const parts = [
      ...texts.map((text) => ({ text })),
      ...(isUsable ? [{ functionCall: { name: "add", args: {} } }] : []),
    ];
    expect(finishOf(events)).toEqual({ type: "finish", ...expected, content: { role: "model", parts } });
    expect(events.filter(({ type }) => type === "call")).toHaveLength(isUsable ? 1 : 0);
  },
);

test("an answer that the caller does not read to its end is cancelled", async () => {
  const never = new Promise(() => {});
  const { api, model } = await geminiScene({ answer: inTurn({ pieces: [{ text: "one" }, { until: never }] }) });
  for await (const event of model.stream([user("hi")], [], new AbortController().signal)) {
    expect(event).toEqual({ type: "text", text: "one" });
    break;
  }
  await until(() => api.seen[0]?.outcome !== "open");
  expect(api.seen[0]?.outcome).toBe("abandoned");
});

test("Vertex AI is asked in the name of the person's account, under its own path", async () => {
  await using api = await geminiApi({ answer: inTurn(says("a")) });
  const model = createGeminiModel({
    name: "gemini-2.5-flash",
    access: {
      kind: "vertex",
      project: "my-project",
      location: "europe-west1",
      authorize: async () => ({ authorization: "Bearer of-the-person", "x-goog-user-project": "my-project" }),
    },
    baseUrl: api.baseUrl,
    fetch: createModelFetch({ env: {}, clock: systemClock }),
    clock: systemClock,
  });
  expect(finishOf(await all(model, [user("hi")])).reason).toBe("stop");
  expect(api.seen).toMatchObject([
    {
      api: "vertex",
      model: "gemini-2.5-flash",
      headers: { authorization: "Bearer of-the-person", "x-goog-user-project": "my-project" },
    },
  ]);
  expect(api.seen[0]?.headers).not.toHaveProperty("x-goog-api-key");
});

test.each([
  ["global", "https://aiplatform.googleapis.com"],
  ["eu", "https://aiplatform.eu.rep.googleapis.com"],
  ["us-central1", "https://us-central1-aiplatform.googleapis.com"],
])("Vertex AI in %s is at %s", async (location, origin) => {
  const asked: string[] = [];
  const model = createGeminiModel({
    name: "gemini-2.5-flash",
    access: { kind: "vertex", project: "p", location, authorize: async () => ({}) },
    fetch: async (url) => {
      asked.push(String(url));
      return new Response("{}", { status: 404 });
    },
    clock: systemClock,
  });
  await expect(all(model, [user("hi")])).rejects.toMatchObject({ code: "model" });
  expect(asked).toEqual([
    `${origin}/v1beta1/projects/p/locations/${location}/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse`,
  ]);
});

test("the API's package writes nothing and asks no other address, whatever the environment of the process holds", async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("GEMINI_API_KEY", "of-the-process");
  vi.stubEnv("GOOGLE_API_KEY", "of-the-process-too");
  vi.stubEnv("GOOGLE_GENAI_USE_VERTEXAI", "true");
  const { api, model } = await geminiScene({ answer: inTurn(says("a")) });
  await all(model, [user("hi")]);
  expect(api.seen.map(({ headers }) => headers["x-goog-api-key"])).toEqual([api.settings.apiKey]);
});
