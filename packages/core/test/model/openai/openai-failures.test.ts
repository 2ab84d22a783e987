import {
  answered,
  cutAfter,
  endsAfter,
  inTurn,
  openaiError,
  quotaUsedUp,
  rateLimited,
  says,
  serverError,
} from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { HostError } from "../../../src/errors.ts";
import { toOpenaiProblem, toOpenaiRejection } from "../../../src/model/openai/openai-failure.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { all, finishOf, user } from "../../support/model-contract.ts";
import { openaiScene } from "../../support/model-legs.ts";

test.each([
  ["has no room", answered(rateLimited(4)), 4_000],
  ["is not well", answered(serverError(502)), 1_000],
  ["breaks off", cutAfter(0), 1_000],
])("an endpoint that %s is asked again", async (_what, fault, delayMs) => {
  const clock = manualClock();
  const answer = inTurn(says("one"), says("two"));
  const { api, model } = await openaiScene({ answer }, { clock, random: () => 0 });
  api.interrupt("chat", fault);
  const events = [];
  for await (const event of model.stream([user("hi")], [], new AbortController().signal)) {
    events.push(event);
    if (event.type === "retry") setImmediate(() => void clock.pass(event.delayMs));
  }
  expect(events[0]).toEqual({ type: "retry", attempt: 1, delayMs, reason: expect.any(String) });
  expect(finishOf(events).reason).toBe("stop");
});

test.each([
  ["is cut", cutAfter(2)],
  ["ends without an end", endsAfter(2)],
])("an answer that %s after something was said is not asked for again", async (_how, fault) => {
  const { api, model } = await openaiScene({ answer: inTurn(says("one", "two")) });
  api.interrupt("chat", fault);
  await expect(all(model, [user("hi")])).rejects.toMatchObject({ code: "model", message: /broke off/ });
  expect(api.seen).toHaveLength(1);
});

test.each([
  ["a key that is missing", { apiKey: "right" }, { apiKey: undefined }, "Set OPENAI_API_KEY."],
  ["a key that is wrong", { apiKey: "right" }, { apiKey: "wrong" }, "Check OPENAI_API_KEY."],
  ["a model that is unknown", {}, { name: "gone" }, "Choose another: --model NAME"],
  ["an address without a server", {}, { baseUrl: "http://127.0.0.1:9/v1" }, "Start the server"],
  ["a conversation that is too long", { maxInputTokens: 1 }, {}, "Begin a new conversation"],
  ["too many tools", { maxTools: 1 }, {}, "Use fewer servers"],
])("%s is an error with a next step", async (_what, settings, options, next) => {
  const { model } = await openaiScene(settings, options);
  await expect(all(model, [user("hi")])).rejects.toMatchObject({ code: "model", next: expect.stringContaining(next) });
});

test.each([
  ["an empty account", quotaUsedUp(), /no quota left/],
  [
    "a model that calls nothing",
    openaiError(400, "registry.ollama.ai/library/gemma:2b does not support tools"),
    /cannot call tools/,
  ],
  [
    "a prompt that is not wanted",
    openaiError(400, "The prompt was filtered.", { param: "prompt", code: "content_filter" }),
    /filtered/,
  ],
  ["a page of some proxy", { ...openaiError(407, ""), body: "<h1>no</h1>", pieces: ["<h1>no</h1>"] }, /<h1>no/],
])("%s is told, and not asked again", async (_what, reply, message) => {
  const { api, model } = await openaiScene();
  api.interrupt("chat", answered(reply));
  const error: unknown = await all(model, [user("hi")]).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HostError);
  expect((error as HostError).message).toMatch(message);
  expect(api.seen).toHaveLength(1);
});

test("a key is never shown, whatever the endpoint repeats", async () => {
  const apiKey = "a-key-that-is-nobodys-business";
  const { api, model } = await openaiScene({ apiKey }, { apiKey });
  api.interrupt("chat", answered(openaiError(401, `Incorrect API key provided: ${apiKey}.`)));
  const error: unknown = await all(model, [user("hi")]).catch((thrown: unknown) => thrown);
  expect((error as HostError).message).toContain("Incorrect API key provided: (hidden).");
  for (let each = error; each instanceof Error; each = each.cause)
    expect(JSON.stringify([each, each.message, each.stack])).not.toContain(apiKey);
});

test("a tool that is refused is named by its place among those that were offered", async () => {
  const { api, model } = await openaiScene({
    refuses: (tool) => (tool.function?.name === "files_read" ? "odd" : undefined),
  });
  expect(await all(model, [user("hi")])).toEqual([
    { type: "rejected", declaration: 1, message: "Invalid schema for function 'files_read': odd" },
  ]);
  api.settings.explains = "nothing";
  expect(await all(model, [user("hi")])).toEqual([{ type: "rejected", message: expect.any(String) }]);
});

test.each<[string, number, object | string, object]>([
  ["OpenAI", 400, { error: { message: "bad", param: "tools[1].function.name" } }, { declaration: 1 }],
  ["by a name", 400, { error: { message: "Invalid schema for function 'b': odd" } }, { declaration: 1 }],
  ["one that quotes a schema", 400, { error: { message: "Invalid schema: 'see tools[0], function \"a\"'" } }, {}],
  ["one whose schema speaks of messages", 400, { error: { message: "Bad schema: 'the prompt, messages'" } }, {}],
  ["one whose schema speaks of length", 400, { error: { message: 'Bad schema: "maximum context length"' } }, {}],
  ["a place that is none", 400, { error: { message: "bad", param: "tools[7]" } }, {}],
  ["vLLM", 400, { message: "Grammar error: unimplemented keys", object: "error" }, {}],
  ["llama.cpp", 500, { error: { code: 500, message: "JSON schema conversion failed:\nUnrecognized schema" } }, {}],
  ["FastAPI", 422, { detail: "not good" }, {}],
  ["Ollama", 400, { error: "invalid tool" }, {}],
])("a refusal of %s may be about a tool", (_who, status, body, expected) => {
  const problem = toOpenaiProblem({ status, body: JSON.stringify(body) }, 0);
  expect(toOpenaiRejection(problem, ["a", "b"])).toEqual({ type: "rejected", message: problem.message, ...expected });
  expect(toOpenaiRejection(problem, [])).toBeUndefined();
});

test("a date is a wish too", () => {
  const today = Date.UTC(2026, 0, 1);
  const retryAfter = new Date(today + 5_000).toUTCString();
  expect(toOpenaiProblem({ status: 503, body: "", retryAfter }, today)).toMatchObject({
    kind: "unavailable",
    afterMs: 5_000,
  });
});
