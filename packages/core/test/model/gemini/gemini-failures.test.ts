import {
  answered,
  cutAfter,
  endsAfter,
  failsAfter,
  geminiError,
  inTurn,
  internalError,
  overloaded,
  quotaExceeded,
  says,
} from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { ModelEvent } from "../../../src/model/model.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { all, finishOf, tools, user } from "../../support/model-contract.ts";
import { geminiScene } from "../../support/model-legs.ts";

/** Reads to the end while time passes as fast as it is waited for. */
async function patiently(
  model: Parameters<typeof all>[0],
  clock: ReturnType<typeof manualClock>,
): Promise<{ readonly events: readonly ModelEvent[]; readonly error?: unknown }> {
  const events: ModelEvent[] = [];
  try {
    for await (const event of model.stream([user("hi")], tools, new AbortController().signal)) {
      events.push(event);
      // Once it is waiting, and not before.
      if (event.type === "retry") setImmediate(() => void clock.pass(event.delayMs));
    }
    return { events };
  } catch (error) {
    return { events, error };
  }
}

const half = (): number => 0.5;

test("an API without capacity is asked again after the pause that it names", async () => {
  const clock = manualClock();
  const { api, model } = await geminiScene({ answer: inTurn(says("at last")) }, { clock, random: half });
  api.interrupt("generate", answered(quotaExceeded({ delay: "34.5s" })));
  const { events } = await patiently(model, clock);
  expect(events[0]).toEqual({
    type: "retry",
    attempt: 1,
    delayMs: 34_500,
    reason: "the quota of the Gemini API is used up (429)",
  });
  expect(finishOf(events).content.parts).toEqual([{ text: "at last" }]);
});

test("a header is a wish too", async () => {
  const clock = manualClock();
  const { api, model } = await geminiScene({ answer: inTurn(says("at last")) }, { clock });
  const refusal = overloaded();
  api.interrupt("generate", answered({ ...refusal, headers: { ...refusal.headers, "retry-after": "7" } }));
  const { events } = await patiently(model, clock);
  expect(events[0]).toMatchObject({ type: "retry", delayMs: 7_000 });
});

test("an API with an internal error is asked again with growing pauses, and at last not any more", async () => {
  const clock = manualClock();
  const { api, model } = await geminiScene({}, { clock, random: half });
  for (const reply of [internalError(), overloaded()]) api.interrupt("generate", answered(reply), 3);
  const { events, error } = await patiently(model, clock);
  expect(events.map((event) => (event.type === "retry" ? [event.attempt, event.delayMs] : event.type))).toEqual([
    [1, 750],
    [2, 1_500],
    [3, 3_000],
    [4, 6_000],
  ]);
  expect(error).toMatchObject({
    code: "model",
    message: "the Gemini API is not available now (503): The model is overloaded. Please try again later.",
    next: "Try again in a while.",
  });
  expect(api.seen).toHaveLength(5);
});

test.each([
  ["the quota of a day", quotaExceeded({ delay: "20s", per: "day" })],
  ["a pause that is too long", quotaExceeded({ delay: "3600s" })],
])("%s is not waited for", async (_what, reply) => {
  const { api, model } = await geminiScene();
  api.interrupt("generate", answered(reply));
  await expect(all(model, [user("hi")])).rejects.toMatchObject({
    code: "model",
    message: expect.stringContaining("You exceeded your current quota"),
  });
  expect(api.seen).toHaveLength(1);
});

test.each([
  ["fails", failsAfter(1, overloaded())],
  ["is cut", cutAfter(1)],
  ["ends without an end", endsAfter(1)],
])(
  "an answer that %s after something was said is not asked for again, and none of its calls is made",
  async (_how, fault) => {
    const { api, model } = await geminiScene({ answer: inTurn({ pieces: [{ text: "one" }, { call: "add" }] }) });
    api.interrupt("generate", fault);
    const clock = manualClock();
    const { events, error } = await patiently(model, clock);
    expect(events).toEqual([{ type: "text", text: "one" }]);
    expect(error).toMatchObject({ code: "model" });
    expect(api.seen).toHaveLength(1);
  },
);

test.each([
  ["fails", failsAfter(0, overloaded())],
  ["is cut", cutAfter(0)],
  ["has no candidate", undefined],
])("an answer that %s before anything was said is asked for again", async (_how, fault) => {
  const clock = manualClock();
  const answers = fault === undefined ? [{ pieces: [], finish: "empty" as const }, says("at last")] : [says("at last")];
  // The fault takes an answer of the script with it.
  const answer = inTurn(...(fault === undefined ? answers : [says("lost"), ...answers]));
  const { api, model } = await geminiScene({ answer }, { clock });
  if (fault !== undefined) api.interrupt("generate", fault);
  const { events } = await patiently(model, clock);
  expect(events[0]).toMatchObject({ type: "retry", attempt: 1 });
  expect(finishOf(events).content.parts).toEqual([{ text: "at last" }]);
});

test("cancelling ends a pause", async () => {
  const clock = manualClock();
  const { api, model } = await geminiScene({}, { clock });
  api.interrupt("generate", answered(overloaded()));
  const cancel = new AbortController();
  const reading = (async () => {
    for await (const event of model.stream([user("hi")], [], cancel.signal)) {
      expect(event.type).toBe("retry");
      setImmediate(() => cancel.abort());
    }
  })();
  await expect(reading).rejects.toMatchObject({ code: "cancelled" });
});

test.each([
  [
    "by its number",
    {
      refuses: (name: string) =>
        name === "files.read"
          ? "GenerateContentRequest.tools[0].function_declarations[{index}].parameters: odd"
          : undefined,
    },
    1,
  ],
  [
    "by its name",
    {
      refuses: (name: string) =>
        name === "add"
          ? "Unable to submit request because `add` functionDeclaration `parameters.a` schema is odd."
          : undefined,
    },
    0,
  ],
] as const)("a declaration that is refused is named %s", async (_how, { refuses }, declaration) => {
  const { model } = await geminiScene({ refuses: ({ name = "" }) => refuses(name) });
  const events = await all(model, [user("hi")]);
  expect(events).toEqual([{ type: "rejected", declaration, message: expect.stringContaining("odd") }]);
});

test("a refusal that names nothing may be about any declaration; without one, it is an error", async () => {
  const { api, model } = await geminiScene({ explains: "nothing", refuses: () => "odd" });
  const message = "Request contains an invalid argument.";
  expect(await all(model, [user("hi")])).toEqual([{ type: "rejected", message }]);
  api.interrupt("generate", answered(geminiError(400, "INVALID_ARGUMENT", message)));
  const stream = model.stream([user("hi")], [], new AbortController().signal);
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: "model",
    message: `the Gemini API refused the request (400): ${message}`,
  });
});

test.each([
  "Please ensure that function response turn comes immediately after a function call turn.",
  "* GenerateContentRequest.contents[3].parts: contents.parts must not be empty.",
  "Unable to process input image.",
])("what is wrong with the conversation is no declaration's fault: %s", async (message) => {
  const { api, model } = await geminiScene();
  api.interrupt("generate", answered(geminiError(400, "INVALID_ARGUMENT", message)));
  await expect(all(model, [user("hi")])).rejects.toMatchObject({ code: "model" });
});

test.each([
  'Invalid schema: "contents, an image of a function call: tools[0].function_declarations[0]"',
  'Bad description: "exceeds the context window, the token count"',
])("text that the API quotes neither accuses nor excuses a tool: %s", async (message) => {
  const { api, model } = await geminiScene();
  api.interrupt("generate", answered(geminiError(400, "INVALID_ARGUMENT", message)));
  expect(await all(model, [user("hi")])).toEqual([{ type: "rejected", message }]);
});

test("a key that is not valid is never shown, whatever the API repeats", async () => {
  const apiKey = "AQ.a-key-that-is-nobodys-business";
  const access = { kind: "key", apiKey, variable: "GEMINI_API_KEY" } as const;
  const { api, model } = await geminiScene({}, { access });
  const said = `API key not valid: ${apiKey}, ${encodeURIComponent(apiKey)}, ${Buffer.from(apiKey).toString("base64")}`;
  api.interrupt("generate", answered(geminiError(403, "PERMISSION_DENIED", said)));
  const error: unknown = await all(model, [user("hi")]).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    message: "the Gemini API does not accept the credentials (403): API key not valid: (hidden), (hidden), (hidden)",
    next: "Check GEMINI_API_KEY; create a key at https://aistudio.google.com/apikey.",
  });
  for (let each = error; each instanceof Error; each = each.cause) {
    expect(JSON.stringify([each, each.message, each.stack])).not.toContain(apiKey);
  }
});

test.each([
  [
    "a key that is unknown",
    { access: { kind: "key", apiKey: "wrong", variable: "GOOGLE_API_KEY" } },
    "Check GOOGLE_API_KEY",
  ],
  ["a model that is unknown", { name: "gemini-2.5-gone" }, "--model gemini-2.5-flash"],
  ["an address without a server", { baseUrl: "http://127.0.0.1:9" }, "Check the network"],
] as const)("%s is an error with a next step", async (_what, options, next) => {
  const { model } = await geminiScene({}, options);
  await expect(all(model, [user("hi")])).rejects.toMatchObject({ code: "model", next: expect.stringContaining(next) });
});

test("too many declarations are no single one's fault", async () => {
  const { model } = await geminiScene({ maxDeclarations: 1 });
  await expect(all(model, [user("hi")])).rejects.toMatchObject({
    code: "model",
    message: expect.stringContaining("the Gemini API does not accept so many tools"),
  });
});

test("a conversation that is too long is said to be", async () => {
  const { model } = await geminiScene({ maxInputTokens: 10 });
  await expect(all(model, [user("hi".repeat(100))])).rejects.toMatchObject({
    code: "model",
    message: expect.stringContaining('the conversation is too long for "gemini-2.5-flash"'),
  });
});
